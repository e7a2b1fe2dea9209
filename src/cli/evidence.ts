/** `countersign evidence`: judges this installation by the standards that somebody has to sign for. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { loadModelPack, type ModelPack } from '../../models/pack/model-pack.js'
import { loadConfig } from '../app/configuration.js'
import { databaseOf } from '../app/database.js'
import { type Config, isPostgres, modelPackDir, SETTINGS } from '../config/config.js'
import type { Installation } from '../evidence/evidence.js'
import { evidencePage, evidenceView } from '../evidence/evidence-page.js'
import { judgeInstallation } from '../evidence/judge-installation.js'
import { tablesOf } from '../features/index.js'
import { COMMIT, VERSION } from '../lib/version.js'
import { effectiveValue } from './config/effective-value.js'
import { tryBackups } from './doctor/trials.js'
import { action, note, type OutputOptions, print } from './lib/output.js'
import { printable } from './lib/style.js'

export function registerEvidenceCommand(command: Command): void {
  command.option('--json', 'print JSON').action(
    action(async (options: OutputOptions) => {
      const config = loadConfig()
      const { installation, unread } = await examine(config)
      const standards = judgeInstallation(installation)
      const judgedAt = new Date().toISOString()
      const model = installation.pack?.modelId ?? null
      const view = { version: VERSION, commit: COMMIT, judged_at: judgedAt, model, unread }
      print(options, { ...view, ...evidenceView(standards, (name) => effectiveValue(name, config)) }, () =>
        evidencePage({
          introduction: [
            `Countersign ${VERSION} (commit ${COMMIT}) with ${model ?? 'no model pack'} and ${installation.tenants.length} tenants, judged at ${judgedAt}.`,
            ...unread.map((what) => `Not read: ${printable(what)}`),
          ].join(' '),
          standards,
          settingText: (name) =>
            `${SETTINGS[name].variable}=${printable(effectiveValue(name, config) ?? '')}`,
          linkTo: (document) => `docs/${document}`,
        }).trimEnd(),
      )
      if (!options.json) for (const what of unread) note(`warning: ${printable(what)}`)
    }),
  )
}

/** Looks at the installation without changing it. What cannot be read is left out of the judgement and named in `unread`. */
async function examine(config: Config): Promise<{ installation: Installation; unread: string[] }> {
  const unread: string[] = []
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      unread.push((error as Error).message)
      return otherwise
    }
  }
  const isThere = await attempt(() => databaseOf(config).exists(), false)
  const waits = isThere ? await attempt(() => databaseOf(config).waitsForDisk(), null) : null
  return {
    installation: {
      config,
      pack: await attempt(() => installedPack(config), null),
      tenants: isThere ? await attempt(() => tenantsOf(config), []) : [],
      backups: isThere && !isPostgres(config) ? await backupsOf(config) : 'unknown',
      durability: waits === null ? null : waits ? 'synced' : 'unsynced',
    },
    unread,
  }
}

async function installedPack(config: Config): Promise<ModelPack | null> {
  const dir = modelPackDir(config)
  return existsSync(join(dir, 'pack.json')) ? loadModelPack(dir) : null
}

/** The database's keys are not needed: contracts are in clear. */
async function tenantsOf(config: Config) {
  const store = await databaseOf(config).open({ tables: tablesOf() })
  try {
    return (await store.read.tenants()).filter(({ deletedAt }) => deletedAt === null)
  } finally {
    await store.close()
  }
}

async function backupsOf(config: Config): Promise<Installation['backups']> {
  return (await tryBackups(config, Date.now())).warnings.length > 0 ? 'overdue' : 'current'
}
