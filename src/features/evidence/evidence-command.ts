/** `countersign evidence`: judges this installation by the standards that somebody has to sign for. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { loadModelPack, type ModelPack } from '../../../models/pack/model-pack.js'
import { declare } from '../../cli/lib/command.js'
import { effectiveValue } from '../../cli/lib/effective-value.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { overdueBackup } from '../../cli/lib/overdue-backup.js'
import { printable } from '../../cli/lib/style.js'
import { type Config, isPostgres, modelPackDir } from '../../config/config.js'
import { COMMIT, VERSION } from '../../lib/version.js'
import type { Database } from '../../storage/database.js'
import { type Installation, SETTINGS, type SettingName } from './evidence.js'
import { evidencePage, evidenceView } from './evidence-page.js'
import { judgeInstallation } from './judge-installation.js'

export function registerEvidenceCommand(command: Command, { loadConfig, databaseOf }: CommandHost): void {
  declare(command, '', {
    async answer() {
      const config = await loadConfig()
      const { installation, unread } = await examine(config, await databaseOf(config))
      const standards = judgeInstallation(installation)
      const judged_at = new Date().toISOString()
      const model = installation.pack?.modelId ?? null
      const evidence = evidenceView(standards, (name) => judgedValue(name, config))
      const view = { version: VERSION, commit: COMMIT, judged_at, model, unread, ...evidence }
      return { view, config, standards, tenants: installation.tenants.length }
    },
    view: ({ view }) => view,
    text: ({ view: { judged_at, model, unread }, config, standards, tenants }) =>
      evidencePage({
        introduction: [
          `Countersign ${VERSION} (commit ${COMMIT}) with ${model ?? 'no model pack'} and ${tenants} tenants, judged at ${judged_at}.`,
          ...unread.map((what) => `Not read: ${printable(what)}`),
        ].join(' '),
        standards,
        settingText: (name) => `${SETTINGS[name].variable}=${printable(judgedValue(name, config) ?? '')}`,
        linkTo: (document) => `docs/${document}`,
      }),
    remark: ({ view: { unread } }) => unread.map((what) => `warning: ${printable(what)}`).join('\n') || null,
  })
}

const judgedValue = (name: SettingName, config: Config) => effectiveValue(name, config, SETTINGS)

/** Looks at the installation without changing it. What cannot be read is left out of the judgement and named in `unread`. */
async function examine(
  config: Config,
  database: Database,
): Promise<{ installation: Installation; unread: string[] }> {
  const unread: string[] = []
  const attempt = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work()
    } catch (error) {
      unread.push((error as Error).message)
      return otherwise
    }
  }
  const isThere = await attempt(() => database.exists(), false)
  const waits = isThere ? await attempt(() => database.waitsForDisk(), null) : null
  return {
    installation: {
      config,
      pack: await attempt(() => installedPack(config), null),
      tenants: isThere ? await attempt(() => tenantsOf(database), []) : [],
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

/** Needs no keys of the database, since contracts are in clear, and no tables of features. */
async function tenantsOf(database: Database) {
  const store = await database.open({})
  try {
    return (await store.read.tenants()).filter(({ deletedAt }) => deletedAt === null)
  } finally {
    await store.close()
  }
}

async function backupsOf(config: Config): Promise<Installation['backups']> {
  return (await overdueBackup(config, Date.now())) === null ? 'current' : 'overdue'
}
