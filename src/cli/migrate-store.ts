/** `countersign migrate-store`: a database of one kind copied to the other. */
import type { Command } from 'commander'
import { AuditLog } from '../audit/audit-log.js'
import { type Config, ConfigError, isPostgres, loadConfig, sqliteFile } from '../config/config.js'
import { parsePostgresUrl } from '../config/postgres-url.js'
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { loadMasterKey } from '../crypto/master-key.js'
import { openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { moveOperatorPassword } from '../dashboard/operator-password.js'
import { systemClock } from '../lib/clock.js'
import type { CopyOrigin, CopySource, CopyTarget, KeyTranslation } from '../storage/copy-side.js'
import type { CopyStage } from '../storage/copy-store.js'
import { action, CommandError, EXIT, note, type OutputOptions, print, UsageError } from './output.js'
import { type Progress, progressBar } from './progress.js'
import { type Cell, counted, listing } from './style.js'
import { assertMasterKey, closeFilesToOthers } from './with-core.js'

interface MigrateOptions extends OutputOptions {
  from: string
  to: string
}

interface ChainView {
  tenant_id: string
  name: string
  entries: number
  broken_at: number | null
}

export function registerMigrateStoreCommand(command: Command): void {
  command
    .requiredOption(
      '--from <url>',
      'sqlite:<file> or postgres://<user>@<host>/<database>; no service may be running on it',
    )
    .requiredOption(
      '--to <url>',
      'the other kind: an empty database, or one that an interrupted run of this has begun to fill',
    )
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The password for PostgreSQL is read from COUNTERSIGN_DATABASE_PASSWORD_FILE, or stands in the URL. The source stays as it is. Interrupted, the same
command goes on where it has ended; until it is done nobody can serve from the target.

Example:
  countersign migrate-store --from sqlite:data/countersign.db --to postgres://countersign@db.example.com/countersign`,
    )
    .action(action(migrateStore))
}

async function migrateStore(options: MigrateOptions): Promise<void> {
  const { from, to } = options
  assertUrls(options)
  const config = loadConfig()
  assertMasterKey(config)
  const masterKey = loadMasterKey(config)
  closeFilesToOthers()
  // Loaded here: help needs no database.
  const { findKeys } = await import('../app/core.js')
  const { copyStore } = await import('../storage/copy-store.js')
  const startedMs = performance.now()
  const source = await openSource(config, from)
  try {
    const keys = await findKeys(source.read, masterKey)
    if (!keys) throw new CommandError('source_missing', `${shownUrl(from)} holds nothing yet.`)
    const origin = await originOf(source, options)
    const target = await openTarget(config, to)
    const bars = new Bars()
    try {
      const watch = {
        onProgress: bars.update,
        onAnew: () =>
          note('What the interrupted run has copied is not what the source holds by now: copying anew.'),
      }
      const copied = await copyStore(source, target, origin, watch, await translationOf(source, keys, config))
      const chains = await verifyChains(new AuditLog(keys, systemClock), target, bars)
      await source.assertStill()
      if (!copied.wasFinished) {
        await moveOperatorPassword(config, source.password, target.password)
        await target.finish()
      }
      bars.stop()
      report(options, { ...copied, chains, seconds: Math.round((performance.now() - startedMs) / 100) / 10 })
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
      'Of --from and --to one is sqlite:<file>, the other postgres://<user>@<host>/<database>.',
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
    ? (await import('../storage/postgres/postgres-copy.js')).openPostgresSource(database, access(config))
    : (await import('../storage/sqlite/sqlite-copy.js')).openSqliteSource(sqliteFile({ database }))
}

async function openTarget(config: Config, database: string): Promise<CopyTarget> {
  return isPostgres({ database })
    ? (await import('../storage/postgres/postgres-copy.js')).openPostgresTarget(database, access(config))
    : (await import('../storage/sqlite/sqlite-copy.js')).openSqliteTarget(sqliteFile({ database }))
}

const access = ({ databasePasswordFile }: Config) => ({ passwordFile: databasePasswordFile })

/** What epochs have wrapped opens without them afterwards: SQLite has none. @throws ConfigError when one of their keys is missing */
async function translationOf(
  { epochs }: CopySource,
  keys: ServiceKeys,
  config: Config,
): Promise<KeyTranslation | null> {
  const records = (await epochs?.all()) ?? []
  if (records.length === 0) return null
  const { epochFolder } = await import('../app/core.js')
  const { loadEpochs } = await import('../keys/epochs.js')
  const { epochs: loaded } = await loadEpochs(records, epochFolder(config), Date.now())
  const wrapping = dataKeyWrapping({ ...keys, epochs: loaded })
  const open = (id: string, wrapped: Buffer) => {
    try {
      return openWithAny(wrapping, wrapped, id)
    } catch {
      // Lost already, and no reason to lose the others.
      return wrapped
    }
  }
  return {
    open,
    wrapAnew(id, wrapped) {
      const dataKey = open(id, wrapped)
      return dataKey === wrapped ? wrapped : seal(keys.wrapping.current, dataKey, id)
    },
  }
}

/** The first tenant, which no database ever loses, or the first of its keys. */
async function originOf({ read }: CopySource, { from, to }: MigrateOptions): Promise<CopyOrigin> {
  const [first] = await read.tenants()
  const [keyring] = await read.keyrings()
  return {
    mark: first?.id ?? keyring!.masterKeyId,
    command: `countersign migrate-store --from ${shownUrl(from)} --to ${shownUrl(to)}`,
  }
}

/** As it can be printed, and typed again from any folder. */
function shownUrl(database: string): string {
  return isPostgres({ database })
    ? database.replace(/^(\w+:\/\/[^:@/?#]*):[^@/?#]*@/, '$1@')
    : `sqlite:${sqliteFile({ database })}`
}

async function verifyChains(log: AuditLog, { read }: CopyTarget, bars: Bars): Promise<ChainView[]> {
  const chains: ChainView[] = []
  const tenants = await read.tenants()
  for (const { id, name } of tenants) {
    bars.update('Verifying', chains.length, tenants.length, name)
    const { entries, brokenAt } = await log.verify(read, id)
    chains.push({ tenant_id: id, name, entries, broken_at: brokenAt })
  }
  return chains
}

/** One after the other. */
class Bars {
  private stage = ''
  private bar: Progress | null = null

  readonly update = (stage: CopyStage | 'Verifying', done: number, total: number, label: string): void => {
    if (stage !== this.stage) {
      this.stop()
      this.stage = stage
      this.bar = progressBar(stage)
    }
    this.bar!.update(done, total, label)
  }

  stop(): void {
    this.bar?.stop()
    this.bar = null
    this.stage = ''
  }
}

interface Report {
  rows: Record<string, number>
  copied: number
  wasFinished: boolean
  chains: ChainView[]
  seconds: number
}

function report(options: MigrateOptions, { rows, copied, wasFinished, chains, seconds }: Report): void {
  // They stand so in the source, row by row: what the log says of somebody's hand is for people to follow up.
  if (chains.some(({ broken_at }) => broken_at !== null)) process.exitCode = EXIT.failed
  const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
  const [from, to] = [shownUrl(options.from), shownUrl(options.to)]
  print(
    options,
    { from, to, rows: total, copied, was_finished: wasFinished, tables: rows, chains, seconds },
    () =>
      [
        wasFinished
          ? `The target holds the same already: ${counted(total, 'row')}, compared one by one.`
          : `Copied ${counted(copied, 'row')}${copied === total ? '' : `; an interrupted run had copied the other ${total - copied}`}. All ${total} were read again on both sides, compared one by one, and are the same.`,
        '',
        listing(
          ['TABLE', 'ROWS'],
          Object.entries(rows).map(([name, count]) => [name, String(count)]),
        ),
        '',
        listing(
          ['TENANT', 'ENTRIES', 'CHAIN'],
          chains.map(({ name, entries, broken_at }) => [name, String(entries), describeChain(broken_at)]),
        ),
        '',
        `Set COUNTERSIGN_DATABASE=${to} with the same master key, and start the service.`,
        `${from} stays as it was, and keeps whoever is erased from now on: serve from it no more, and delete it when you need no way back.`,
      ].join('\n'),
  )
}

function describeChain(brokenAt: number | null): Cell {
  return brokenAt === null
    ? { text: 'intact', style: 'green' }
    : { text: `broken at entry ${brokenAt}, in the source as well`, style: 'red' }
}
