/** `countersign config`: shows every setting with its value and source, and reports everything that is wrong. */
import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { ALL_SETTINGS, resolveConfig } from '../../app/configuration.js'
import { databaseOf } from '../../app/database.js'
import { type Config, ConfigError, type Resolution, unreadable } from '../../config/config.js'
import { isKeyFileUsed } from '../../crypto/master-key.js'
import { loadOperatorPassword } from '../../dashboard/sign-in/operator-password.js'
import {
  tryAddresses,
  tryDatabase,
  tryFollowingPacks,
  tryMasterKey,
  tryPack,
  tryWriting,
} from '../doctor/trials.js'
import { declare } from '../lib/command.js'
import { effectiveValue } from '../lib/effective-value.js'
import { EXIT, fail } from '../lib/output.js'
import { overdueBackup } from '../lib/overdue-backup.js'
import { type Cell, listing, paint, table } from '../lib/style.js'
import { baselineWarning } from '../models/prepare-models.js'
import { configWarnings, tlsReports } from './config-warnings.js'
import { openPack, openSettings } from './open-settings.js'

export function registerConfigCommands(config: Command): void {
  declare(
    config
      .command('show', { isDefault: true })
      .description('print every setting with its value and source; secrets are masked'),
    '',
    {
      options: { '--explain': 'also print the meaning and default of each setting' },
      async answer() {
        const resolution = resolveConfig()
        const { problems } = resolution
        const { configFile } = resolution.config
        // Without the settings of the file the table would show wrong values.
        if (configFile && unreadable(configFile).length > 0) throw new ConfigError(problems)
        if (problems.length > 0) process.exitCode = EXIT.failed
        return { settings: Object.keys(ALL_SETTINGS).map((name) => viewOf(name, resolution)), problems }
      },
      text: ({ settings }, { explain }) =>
        explain
          ? listing(
              ['VARIABLE', 'VALUE', 'SOURCE', 'DEFAULT', 'MEANING'],
              settings.map((view) => [...cellsOf(view), view.default ?? '-', view.description]),
            )
          : listing(['VARIABLE', 'VALUE', 'SOURCE'], settings.map(cellsOf)),
      remark({ problems }) {
        if (problems.length > 0) fail(new ConfigError(problems))
        return null
      },
    },
  )

  declare(config, 'check', {
    does: 'report all that is wrong with the configuration; tries certificates, addresses, the key command and write access',
    async answer() {
      const resolution = resolveConfig()
      const { config } = resolution
      const certificates = tlsReports(config)
      // Setting and trial may report the same problem: print it once.
      const told = [
        ...resolution.problems,
        ...(await secretProblems(config)),
        ...certificates.flatMap((report) => report.problems),
        ...(await tryAddresses(config)).problems,
        ...tryWriting(config),
        ...(await tryDatabase(config)),
        ...(await tryMasterKey(config)),
        ...(await tryPack(config)),
        ...(await tryFollowingPacks(config)),
      ]
      const problems = [...new Set(told)]
      const open = [...openSettings(config), ...(await openPack(config))]
      const warnings = [
        ...configWarnings(resolution).map(({ detail }) => detail),
        ...[baselineWarning(config) ?? []].flat(),
        ...open.map(({ detail, remedy }) => `${detail} To close it: ${remedy}.`),
        ...certificates.flatMap((report) => report.warnings),
        ...[(await overdueBackup(config, Date.now())) ?? []].flat(),
      ]
      if (problems.length > 0) process.exitCode = EXIT.failed
      return { ok: problems.length === 0, problems, warnings }
    },
    text: ({ problems, warnings }) =>
      problems.length + warnings.length === 0
        ? paint('green', 'The configuration is valid.')
        : table([
            ...problems.map((text): Cell[] => [{ text: 'FAIL', style: 'red' }, text]),
            ...warnings.map((text): Cell[] => [{ text: 'WARN', style: 'yellow' }, text]),
          ]),
  })
}

function cellsOf({ name, value, source }: ReturnType<typeof viewOf>): Cell[] {
  return [name, value ?? '-', source === 'default' ? { text: source, style: 'dim' } : source]
}

function viewOf(name: string, { config, given }: Resolution) {
  const { variable, fallback, description } = ALL_SETTINGS[name]!
  return {
    name: variable,
    value: effectiveValue(name, config, ALL_SETTINGS),
    source: given.get(variable)?.source ?? 'default',
    default: fallback ?? null,
    description,
  }
}

/** Problems with the secrets and with the name of the database. Creates nothing; runs the configured key command. */
async function secretProblems(config: Config): Promise<string[]> {
  const { masterKey, masterKeyCommand, masterKeyFile, operatorPassword, operatorPasswordFile } = config
  const checks: Array<() => unknown> = [() => databaseOf(config).describe()]
  if (masterKey || masterKeyCommand || (isKeyFileUsed(config) && existsSync(masterKeyFile)))
    checks.push(async () => (await import('../../app/core.js')).masterKeyOf(config))
  if (operatorPassword || existsSync(operatorPasswordFile)) checks.push(() => loadOperatorPassword(config))
  const problems: string[] = []
  for (const check of checks)
    try {
      await check()
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
    }
  return problems
}
