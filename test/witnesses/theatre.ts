/** A real service that does nothing between the calls of a test, and whose rows and observations can be read. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { BackgroundWork } from '../../src/app/background-work.js'
import type { ServiceResources } from '../../src/app/resources.js'
import type { Observation } from '../../src/http/observation/observation.js'
import type { StopStep } from '../../src/jobs/job.js'
import { ManualClock } from '../../src/lib/clock.js'
import { base64, type FaceName, face } from '../support/faces.js'
import { plain } from '../support/images.js'
import { startService, type TestService } from '../support/service.js'

/** A whole second, since JWTs have no parts of one. */
const BEGINNING = Date.UTC(2026, 10, 23, 10)
const FACES: FaceName[] = ['ada', 'adaToday', 'adaElsewhere', 'grace', 'joan']
/** Patience with the work that follows an answer, in turns of the event loop. */
const MAX_TURNS = 100_000

export type Row = Record<string, unknown>
/** The rows of each table by their primary key, written as text. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Row>>

export class Theatre {
  /** Photos by the name of the face, and a picture without one, all in base64. */
  readonly photos: Record<FaceName | 'blank', string>
  /** The observations that metrics, charts and request log were given so far. */
  readonly observations: Observation[] = []
  readonly keys: Record<string, string[]> = {}
  private readonly database: Database.Database
  /** Reads all rows of a table. */
  private readonly statements: Record<string, Database.Statement<[], Row>> = {}
  private last: { version: unknown; snapshot: Snapshot } | null = null

  private constructor(
    readonly running: TestService,
    photos: Array<[string, string]>,
    private readonly folder: string | undefined,
  ) {
    this.photos = Object.fromEntries(photos) as Theatre['photos']
    this.database = new Database(join(running.dataDir, 'countersign.db'), { readonly: true })
    const tables = this.database
      .prepare<[], string>(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .pluck()
      .all()
    for (const table of tables) {
      const columns = this.database.pragma(`table_info(${table})`) as Array<{ name: string; pk: number }>
      const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
      this.keys[table] = key.map(({ name }) => name)
      // A table without a primary key has its rows by SQLite's row numbers.
      const selected = [...(key.length > 0 ? [] : ['rowid AS "row number"']), ...this.columnsOf(table)]
      this.statements[table] = this.database.prepare<[], Row>(`SELECT ${selected} FROM ${table}`)
    }
    const { metrics } = Reflect.get(running.service, 'resources') as ServiceResources
    const observe = metrics.observe.bind(metrics)
    Object.assign(metrics, {
      observe: (observation: Observation) => {
        this.observations.push(observation)
        observe(observation)
      },
    })
  }

  /**
   * @param settings in addition to those of every test
   * @param folder removed at the end
   */
  static async open(
    settings: Record<string, string>,
    { ownEngine = false, folder }: { ownEngine?: boolean; folder?: string } = {},
  ): Promise<Theatre> {
    const pictures = FACES.map(async (name): Promise<[string, string]> => [name, base64(await face(name))])
    const photos = await Promise.all([
      ...pictures,
      plain().then((picture): [string, string] => ['blank', base64(picture)]),
    ])
    const running = await startService(
      {
        // The other transport does not load on every version of Node, and `health` names the one that serves.
        COUNTERSIGN_HTTP: 'node',
        COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
        COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
        // A busy machine needs a long time for twenty frames.
        COUNTERSIGN_DEADLINE_MS: '60000',
        ...settings,
      },
      { ownEngine, clock: new ManualClock(BEGINNING) },
    )
    const theatre = new Theatre(running, photos, folder)
    await theatre.endBackgroundWork()
    return theatre
  }

  /** Ends what would delete, deliver and save at any moment, in the middle of a call that is recorded. */
  private async endBackgroundWork(): Promise<void> {
    for (const step of ['atOnce', 'drained'] as const) await this.end(step)
    await this.save()
  }

  /** Writes what a service saves seconds after its answers: the request log and the counts of the charts. */
  save(): Promise<void> {
    return this.end('last')
  }

  private async end(step: StopStep): Promise<void> {
    for (const job of this.work.jobs[step] ?? []) await job.stop()
  }

  private get work(): BackgroundWork {
    return Reflect.get(this.running.service, 'work') as BackgroundWork
  }

  /** The addresses of the service, which has other ports in every run. */
  get origins(): Record<string, string> {
    const { service } = this.running
    const page = service.origin('capture')
    return {
      [new URL(service.url('production')).origin]: 'http://production',
      [new URL(service.url('sandbox')).origin]: 'http://sandbox',
      ...(page ? { [page]: 'http://page' } : {}),
    }
  }

  /** Waits until the request was observed, which is after its answer. */
  async observed(requestId: string | null): Promise<void> {
    for (let turn = 0; turn < MAX_TURNS; turn++) {
      if (this.observations.some((one) => one.requestId === requestId)) return
      await new Promise(setImmediate)
    }
    throw new Error(`The request ${requestId} was answered and not observed.`)
  }

  snapshot(): Snapshot {
    const version = this.database.pragma('data_version', { simple: true })
    const { last } = this
    if (last && last.version === version) return last.snapshot
    const snapshot = new Map(Object.keys(this.keys).map((table) => [table, this.rowsOf(table)]))
    this.last = { version, snapshot }
    return snapshot
  }

  private rowsOf(table: string): Map<string, Row> {
    const key = this.keys[table]!
    const rows = this.statements[table]!.all()
    return new Map(
      key.length > 0
        ? rows.map((row) => [key.map((column) => textOf(row[column])).join(' '), row])
        : rows.map(({ 'row number': number, ...row }) => [String(number), row]),
    )
  }

  /** The key first, then the others by name: their order in the database follows from the history of its schema. */
  private columnsOf(table: string): string[] {
    return this.database
      .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?) ORDER BY pk = 0, pk, name')
      .pluck()
      .all(table)
  }

  async close(): Promise<void> {
    this.database.close()
    await this.running.stop()
    if (this.folder) await rm(this.folder, { recursive: true, force: true })
  }
}

export function textOf(value: unknown): string {
  return Buffer.isBuffer(value) ? value.toString('hex') : String(value)
}
