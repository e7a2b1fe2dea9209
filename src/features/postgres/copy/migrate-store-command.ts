/** `countersign migrate-store`: copies a SQLite database to PostgreSQL, or back. */
import type { Command } from 'commander'
import { AuditLog } from '../../../audit/audit-log.js'
import { type Asked, declare } from '../../../cli/lib/command.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { CommandError, EXIT, UsageError } from '../../../cli/lib/output.js'
import { assertMasterKey, closeFilesToOthers } from '../../../cli/lib/own-files.js'
import { progressBar, SILENT } from '../../../cli/lib/progress.js'
import { type Cell, counted, listing } from '../../../cli/lib/style.js'
import { type Config, ConfigError, isPostgres, sqliteFile } from '../../../config/config.js'
import { dataKeyWrapping } from '../../../crypto/epoch-key.js'
import { loadMasterKey } from '../../../crypto/master-key.js'
import { openWithAny, seal } from '../../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../../crypto/service-keys.js'
import { systemClock } from '../../../lib/clock.js'
import type { Table } from '../../../storage/table.js'
import { parsePostgresUrl } from '../postgres-url.js'
import type { CopySource, CopyTarget, KeyTranslation } from './copy-store.js'

const OPTIONS = {
  '--from <url>': {
    does: 'sqlite:<file> or postgres://<user>@<host>/<database>; no service may be running on it',
    required: true,
  },
  '--to <url>': { does: 'the other kind of database, which must be empty', required: true },
} as const
type MigrateOptions = Asked<'', typeof OPTIONS>

interface ChainView {
  tenant_id: string
  name: string
  entries: number
  broken_at: number | null
}

export function registerMigrateStoreCommand(command: Command, host: CommandHost): void {
  declare(command, '', {
    options: OPTIONS,
    help: `
The password for PostgreSQL is read from COUNTERSIGN_DATABASE_PASSWORD_FILE or from the URL. The source is not changed. The target is written in
one transaction: a run that fails or is interrupted leaves it as it was.

Example:
  countersign migrate-store --from sqlite:data/countersign.db --to postgres://countersign@db.example.com/countersign`,
    answer: (options) => migrateStore(options, host),
    text: ({ from, to, rows, tables, chains }) =>
      [
        `Copied ${counted(rows, 'row')}. All were read again on both sides and are equal.`,
        '',
        listing(
          ['TABLE', 'ROWS'],
          Object.entries(tables).map(([name, count]) => [name, String(count)]),
        ),
        '',
        listing(
          ['TENANT', 'ENTRIES', 'CHAIN'],
          chains.map(({ name, entries, broken_at }) => [name, String(entries), describeChain(broken_at)]),
        ),
        '',
        `Set COUNTERSIGN_DATABASE=${to} with the same master key, and start the service.`,
        `${from} is unchanged, so it keeps the data of users who are erased from now on. Do not serve from it any more, and delete it when you need no way back.`,
      ].join('\n'),
  })
}

async function migrateStore(options: MigrateOptions, host: CommandHost) {
  const { from, to } = options
  assertUrls(options)
  const config = await host.loadConfig()
  assertMasterKey(config)
  const masterKey = loadMasterKey(config)
  closeFilesToOthers()
  // Loaded only here, because help needs no database.
  const { findKeys } = await import('../../../keys/find-keys.js')
  const { copyStore } = await import('./copy-store.js')
  const { tablesWith } = await import('../../../storage/endings.js')
  const startedMs = performance.now()
  const source = await openSource(config, from)
  try {
    const keys = await findKeys(source.read, masterKey)
    if (!keys)
      throw new CommandError('source_missing', `${shownUrl(from)} is empty: there is nothing to copy.`)
    const translation = await translationOf(source, keys, (parts) => host.openDataKeys({ ...parts, config }))
    const target = await openTarget(config, to, host.tables)
    const bars = progressBars()
    try {
      const tables = await copyStore(source, target, translation, tablesWith(host.tables), bars.update)
      const chains = await verifyChains(new AuditLog(keys, systemClock), target, bars.update)
      await source.assertUnchanged()
      // Moved before the commit: when the commit fails, the next run replaces the password file again.
      await host.moveOperatorPassword(config, source.password, target.password)
      await target.commit()
      // The copy has the same broken chain as its source, which people have to investigate.
      if (chains.some(({ broken_at }) => broken_at !== null)) process.exitCode = EXIT.failed
      const rows = Object.values(tables).reduce((sum, count) => sum + count, 0)
      const seconds = Math.round((performance.now() - startedMs) / 100) / 10
      return { from: shownUrl(from), to: shownUrl(to), rows, tables, chains, seconds }
    } finally {
      bars.stop()
      await target.close()
    }
  } finally {
    await source.close()
  }
}

/** @throws UsageError; ConfigError */
function assertUrls({ from, to }: MigrateOptions): void {
  const kinds = [from, to].map((url) =>
    /^sqlite:./.test(url) ? 'sqlite' : isPostgres({ database: url }) ? 'postgres' : null,
  )
  if (!kinds.includes('sqlite') || !kinds.includes('postgres'))
    throw new UsageError(
      'invalid_option',
      'One of --from and --to must be sqlite:<file>, the other postgres://<user>@<host>/<database>.',
    )
  const [option, url] = kinds[0] === 'postgres' ? ['--from', from] : ['--to', to]
  try {
    parsePostgresUrl(url)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new UsageError('invalid_option', error.message.replace('COUNTERSIGN_DATABASE', option))
  }
}

async function openSource(config: Config, database: string): Promise<CopySource> {
  return isPostgres({ database })
    ? (await import('./postgres-copy.js')).openPostgresSource(database, access(config))
    : (await import('./sqlite-copy.js')).openSqliteSource(sqliteFile({ database }))
}

async function openTarget(config: Config, database: string, tables: readonly Table[]): Promise<CopyTarget> {
  return isPostgres({ database })
    ? (await import('./postgres-copy.js')).openPostgresTarget(database, {
        ...access(config),
        tables,
      })
    : (await import('./sqlite-copy.js')).openSqliteTarget(sqliteFile({ database }), tables)
}

const access = ({ databasePasswordFile }: Config) => ({ passwordFile: databasePasswordFile })

/** Unwraps data keys that are wrapped under epoch keys, since SQLite has no epochs. @throws ConfigError when a key of an epoch is missing */
async function translationOf(
  { shared }: CopySource,
  keys: ServiceKeys,
  openDataKeys: (parts: { store: Pick<CopySource, 'shared'>; keys: ServiceKeys }) => Promise<void>,
): Promise<KeyTranslation | null> {
  if (!shared || (await shared.epochs.all()).length === 0) return null
  const opened = { ...keys }
  await openDataKeys({ store: { shared }, keys: opened })
  const wrapping = dataKeyWrapping(opened)
  const open = (id: string, wrapped: Buffer) => {
    try {
      return openWithAny(wrapping, wrapped, id)
    } catch {
      // The data of this user were lost before the copy.
      return wrapped
    }
  }
  return {
    open,
    rewrap(id, wrapped) {
      const dataKey = open(id, wrapped)
      return dataKey === wrapped ? wrapped : seal(keys.wrapping.current, dataKey, id)
    },
  }
}

/** The URL without its password, or the absolute path of a file. */
function shownUrl(database: string): string {
  return isPostgres({ database })
    ? database.replace(/^(\w+:\/\/[^:@/?#]*):[^@/?#]*@/, '$1@')
    : `sqlite:${sqliteFile({ database })}`
}

async function verifyChains(
  log: AuditLog,
  { read }: CopyTarget,
  onProgress: (stage: string, done: number, total: number, tenant: string) => void,
): Promise<ChainView[]> {
  const chains: ChainView[] = []
  const tenants = await read.tenants()
  for (const { id, name } of tenants) {
    onProgress('Verifying', chains.length, tenants.length, name)
    const { entries, brokenAt } = await log.verify(read, id)
    chains.push({ tenant_id: id, name, entries, broken_at: brokenAt })
  }
  return chains
}

/** Shows the progress of one stage after the other. */
function progressBars() {
  let shown = { stage: '', bar: SILENT }
  return {
    update(stage: string, done: number, total: number, label: string) {
      if (stage !== shown.stage) {
        shown.bar.stop()
        shown = { stage, bar: progressBar(stage) }
      }
      shown.bar.update(done, total, label)
    },
    stop: () => shown.bar.stop(),
  }
}

function describeChain(brokenAt: number | null): Cell {
  return brokenAt === null
    ? { text: 'intact', style: 'green' }
    : { text: `broken at entry ${brokenAt}, as in the source`, style: 'red' }
}
