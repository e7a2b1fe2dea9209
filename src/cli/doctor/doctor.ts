/** `countersign doctor`: reports what is wrong with this installation and how to mend it. */
import type { Command } from 'commander'
import { resolveConfig } from '../../app/configuration.js'
import { ConfigError, isPostgres, unreadable } from '../../config/config.js'
import { configWarnings } from '../config/config-warnings.js'
import { openSettings } from '../config/open-settings.js'
import { declare } from '../lib/command.js'
import type { Finding } from '../lib/finding.js'
import { EXIT } from '../lib/output.js'
import { type Cell, counted, paint, table } from '../lib/style.js'
import { HTTP_ADDON, NEEDED_ADDONS, tryAddons } from './addon-trial.js'
import {
  checkAuditLogs,
  checkDatabase,
  checkFeatures,
  checkFollowingPacks,
  checkMasterKeyChange,
  checkModels,
  checkNodes,
  checkVector,
} from './doctor-data.js'
import {
  checkAddon,
  checkByteNetworks,
  checkClock,
  checkHttp,
  checkKernels,
  checkNode,
  checkProviders,
  checkTopology,
} from './doctor-machine.js'
import {
  checkAddresses,
  checkBackups,
  checkDisk,
  checkKeyCommand,
  checkReadiness,
  checkTls,
} from './doctor-trials.js'

export function registerDoctorCommand(command: Command): void {
  declare(command, '', {
    async answer() {
      const resolution = resolveConfig()
      const { config } = resolution
      // Without the settings of the file, the findings would be about another installation.
      if (config.configFile && unreadable(config.configFile).length > 0)
        throw new ConfigError(resolution.problems)
      const failures = await tryAddons([HTTP_ADDON, ...NEEDED_ADDONS])
      const addons = NEEDED_ADDONS.map(({ name }) => checkAddon(name, failures.get(name) ?? null))
      // An addon that does not load may end this process too; its own finding reports it.
      const loads = (name: string) => addons.some(({ check, status }) => check === name && status === 'ok')
      const findings = [
        checkNode(),
        ...addons,
        ...(await checkHttp(config, failures.get(HTTP_ADDON.name) ?? null)),
        checkKernels(),
        checkByteNetworks(),
        ...(loads('onnxruntime-node') ? await checkProviders(config) : []),
        await checkModels(config),
        ...(await checkVector(config)),
        ...(await checkFollowingPacks(config)),
        ...(config.masterKeyCommand ? [await checkKeyCommand(config)] : []),
        ...(isPostgres(config) || loads('better-sqlite3')
          ? [
              await checkDatabase(config),
              ...(await checkMasterKeyChange(config)),
              ...(await checkAuditLogs(config)),
              await checkBackups(config),
            ]
          : []),
        ...(await checkNodes(config)),
        ...(await checkFeatures(config)),
        await checkDisk(config),
        await checkAddresses(config),
        ...(await checkReadiness(config)),
        ...checkTls(config),
        checkClock(),
        checkTopology(config),
        ...resolution.problems.map(
          (detail): Finding => ({ check: 'configuration', status: 'problem', detail }),
        ),
        ...[...configWarnings(resolution), ...openSettings(config)].map(
          (warning): Finding => ({ check: 'configuration', status: 'warning', ...warning }),
        ),
      ]
      const ok = problemsIn(findings) === 0
      if (!ok) process.exitCode = EXIT.failed
      return { ok, findings }
    },
    text: ({ ok, findings }) =>
      [
        table(
          findings.flatMap(({ check, status, detail, remedy, items = [] }) => [
            [MARKS[status], check, remedy ? `${detail.replace(/\.$/, '')}; ${remedy}` : detail],
            ...items.map((item) => ['', '', `- ${item}`]),
          ]),
        ),
        '',
        ok
          ? paint('green', 'Everything that is needed is in place.')
          : paint('red', `${counted(problemsIn(findings), 'problem')} found.`),
      ].join('\n'),
  })
}

const problemsIn = (findings: readonly Finding[]) =>
  findings.filter(({ status }) => status === 'problem').length

const MARKS: Record<Finding['status'], Cell> = {
  ok: { text: 'ok', style: 'green' },
  warning: { text: 'WARN', style: 'yellow' },
  problem: { text: 'FAIL', style: 'red' },
}
