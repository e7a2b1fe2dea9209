/** Counts what a call costs the service's main thread, in operations: times are noisy, counts are not. */
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import sharp from 'sharp'
import { BENCH_TENANT, type RunningService, startService } from '../../bench/lib/service-process.js'
import type { ModelPack } from '../../models/pack/model-pack.js'
import { packageFile } from '../../src/lib/package-root.js'
import { type ApiClient, type ApiResponse, apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { leash } from '../support/leash.js'

/** The operations that are counted, in the order of the table. */
export const OPERATIONS = {
  hmacs: 'HMACs and key derivations',
  hashes: 'Hashes',
  ciphers: 'AES operations',
  signatures: 'Signatures',
  random_draws: 'Random draws',
  json_serializations: 'JSON serializations',
  json_parses: 'JSON parses',
  transactions: 'Transactions',
  statements_read: 'Statements that read',
  statements_written: 'Statements that write',
  log_pages: 'Pages of the write-ahead log',
  kib_copied: 'KiB copied between buffers',
  messages: 'Messages to threads',
  socket_writes: 'Writes to the engine',
  write_calls: 'System calls that write',
  kib_written: 'KiB written by them',
  read_calls: 'System calls that read',
  wake_ups: 'Waits of the thread, with its timers',
} as const

/** The operations that are counted over PostgreSQL: what its client sends. */
export const OPERATIONS_ON_POSTGRES = {
  database_statements: 'Statements',
  database_round_trips: 'Answers that are waited for, at most',
  database_kib: 'KiB sent',
} as const

export type Operation = keyof typeof OPERATIONS | keyof typeof OPERATIONS_ON_POSTGRES
const NAMES = [...Object.keys(OPERATIONS), ...Object.keys(OPERATIONS_ON_POSTGRES)] as Operation[]
/** Counts of one call. */
export type Counts = Record<Operation, number>
/** Operations whose counts are not quite the same in every run: over PostgreSQL a service also asks every second what others have changed. */
export const ABOUT: readonly Operation[] = [
  ...(['write_calls', 'kib_written', 'read_calls', 'kib_copied'] as const),
  ...(['database_statements', 'database_round_trips', 'database_kib'] as const),
]
/** Operations that are only shown: a timer that wakes the thread every 10 ms is among them, so that a slow machine counts more. */
export const SHOWN_ONLY: readonly Operation[] = ['wake_ups']

/** Calls of one kind. The least of their counts is that of the call: some meet what is done once a second. */
const CALLS = 9
/** The first calls fill what is remembered in memory. */
const WARM_UP = 4
/** Place of the number of pages in the index of SQLite's log, in its format since version 3.7. */
const MAX_FRAME_OFFSET = 16
/** Time in which the work after an answer has ended, such as the line of the log. */
const SETTLE_MS = 150

/** The calls that are counted, each of which must succeed. */
export const PLAIN = ['health', 'enroll', 'verify', 'erase'] as const
type Plain = (typeof PLAIN)[number]
/** The columns of the table: the plain calls, then the same with features that an installation may turn on. */
export const CALLS_COUNTED = [...PLAIN, 'enroll with features', 'verify with features'] as const
export type Counted = (typeof CALLS_COUNTED)[number]
export type Ledger = Record<Counted, Counts>

/** A policy that asks nothing which a photo does not give, and erases users whom nobody uses. */
const POLICY = {
  retention: { inactive_days: 1095, notice_days: 30 },
  rules: [{ name: 'all', require: { acr: 'urn:countersign:acr:face' } }],
}

/** Runs the built service with its own defaults and one worker, plain and with features, and counts each kind of call. */
export async function takeLedger(pack: ModelPack): Promise<Ledger> {
  const plain = await countCalls(pack, PLAIN)
  const full = await countCalls(
    pack,
    ['enroll', 'verify'],
    { COUNTERSIGN_REFERENCE_AGEING_DAYS: '30' },
    turnOnFeatures,
  )
  return { ...plain, 'enroll with features': full.enroll, 'verify with features': full.verify }
}

/** Counts the plain calls over an empty database of PostgreSQL. */
export function takeLedgerOnPostgres(pack: ModelPack, database: string): Promise<Record<Plain, Counts>> {
  const masterKey = randomBytes(32).toString('base64')
  return countCalls(pack, PLAIN, { COUNTERSIGN_DATABASE: database, COUNTERSIGN_MASTER_KEY: masterKey })
}

async function countCalls<Kind extends Plain>(
  pack: ModelPack,
  kinds: readonly Kind[],
  settings: Record<string, string> = {},
  prepare: (service: RunningService) => Promise<void> = async () => {},
): Promise<Record<Kind, Counts>> {
  const reference = await face('ada')
  // Turned, because without that the default pack finds it so alike to the reference that it counts as the same capture.
  const picture = await sharp(await face('adaToday'))
    .rotate(-4.5)
    .toBuffer()
  // A socket of its own folder, because a path may be too long for one.
  const folder = await mkdtemp(join(tmpdir(), 'ledger-'))
  const socket = join(folder, 'socket')
  let service: RunningService | undefined
  try {
    service = await startService(
      {
        pack,
        nodeArguments: leash(),
        settings: { COUNTERSIGN_WORKERS: '1', COUNTERSIGN_REPLAY_POLICY: 'reject', ...settings },
        probe: {
          module: pathToFileURL(packageFile('test', 'ledger', 'counters.mjs')),
          env: { COUNTERSIGN_LEDGER_SOCKET: socket },
        },
      },
      reference,
    )
    await prepare(service)
    const client = apiClient(`${service.production}/v1`, service.key)
    const counts = async (): Promise<Record<string, number>> => JSON.parse(await text(connect(socket)))
    const logIndex = join(service.dataDir, 'countersign.db-shm')
    const { pid } = service
    const system = () => ({
      ...systemCounts(pid),
      log_pages: existsSync(logIndex) ? readFileSync(logIndex).readUInt32LE(MAX_FRAME_OFFSET) : 0,
    })
    const counted = {} as Record<Kind, Counts>
    for (const kind of kinds) {
      const samples: Counts[] = []
      for (let i = 0; i < CALLS + WARM_UP; i++) {
        // To ask for the counts costs system calls itself, so these are read after the first asking and before the second.
        const before = { ...(await counts()), ...system() }
        const { status, body } = await call(client, kind, i, { reference, picture })
        if (status >= 300 || body?.verdict === 'rejected')
          throw new Error(`${kind} ${i} was not answered as expected: ${JSON.stringify(body)}`)
        // Later only its timers wake the thread.
        const { wake_ups = 0 } = system()
        await new Promise((resolve) => setTimeout(resolve, SETTLE_MS))
        const after = { ...system(), wake_ups, ...(await counts()) }
        if (i >= WARM_UP) samples.push(difference(before, after))
      }
      counted[kind] = least(samples)
    }
    return counted
  } finally {
    await service?.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

function call(
  client: ApiClient,
  kind: Plain,
  i: number,
  { reference, picture }: { reference: Buffer; picture: Buffer },
): Promise<ApiResponse> {
  const user_id = `user-${i}`
  const keyed = { headers: { 'X-Svc-Idempotency-Key': `${kind}-${i}` } }
  switch (kind) {
    case 'health':
      return client.health()
    case 'enroll':
      return client.enroll({ user_id, image: base64(reference) }, keyed)
    case 'verify':
      return client.verify(
        { user_id, image: base64(picture), action: { type: 'transfer', amount: '12.50' } },
        keyed,
      )
    case 'erase':
      return client.erase(user_id)
  }
}

/** Gives the tenant a policy, and a webhook of all events that nobody takes. */
async function turnOnFeatures({ dataDir, command }: RunningService): Promise<void> {
  const policy = join(dataDir, 'policy.json')
  await writeFile(policy, JSON.stringify(POLICY))
  await command('policy', 'set', BENCH_TENANT, '--file', policy)
  await command('webhook', 'add', BENCH_TENANT, 'https://webhooks.invalid/countersign')
}

/** Linux's counts of the main thread: calls of the read and write families, and how often it waited. Other systems have none. */
function systemCounts(pid: number): { wake_ups?: number } & Record<string, number> {
  try {
    const task = `/proc/${pid}/task/${pid}`
    const io = readFileSync(`${task}/io`, 'utf8')
    const status = readFileSync(`${task}/status`, 'utf8')
    const read = (from: string, name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(from)![1])
    return {
      write_calls: read(io, 'syscw'),
      kib_written: Math.round(read(io, 'wchar') / 1024),
      read_calls: read(io, 'syscr'),
      wake_ups: read(status, 'voluntary_ctxt_switches'),
    }
  } catch {
    return {}
  }
}

/** The log is cut by an erasure: its pages then count as none. */
function difference(before: Record<string, number>, after: Record<string, number>): Counts {
  const counts = NAMES.map((name) => [name, Math.max(0, (after[name] ?? 0) - (before[name] ?? 0))])
  return Object.fromEntries(counts) as Counts
}

function least(samples: Counts[]): Counts {
  const counts = NAMES.map((name) => [name, Math.min(...samples.map((sample) => sample[name]))])
  return Object.fromEntries(counts) as Counts
}
