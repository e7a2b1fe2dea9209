/**
 * The load generator, a lean process of its own: bodies are put together from ready-made buffers, and responses are
 * not parsed. Every response is checked: a rejected verify would be measured as a fast one.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { serveOrders } from './helper-process.js'
import { LeanClient } from './lean-client.js'
import type { LoadOrder, LoadResult, Operation, Target } from './load-orders.js'

interface LoadRequest {
  operation: Operation
  method: 'GET' | 'POST' | 'DELETE'
  status: number
  /** Text that the response must contain. */
  expected?: string
  /** Pieces of the body, written one after the other. */
  body?: Buffer[]
  idempotencyKey?: string
  /** A refusal counts as a response instead of an error. */
  refusable?: boolean
}

interface LoadResponse {
  status: number
  /** Status line and headers, unparsed. */
  head: string
}

const REFUSALS = new Set([429, 503, 504])

const END_OF_BODY = Buffer.from('"}')
/** Context of a bank's transaction, of typical size. */
const ACTION = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }
/** Milliseconds between two progress reports. */
const REPORT_MS = 200

class Client {
  private readonly jsonHeaders: string
  private readonly plainHeaders: string

  /** @param http several clients may share its connections */
  constructor(
    { origin, key }: Target,
    private readonly http = new LeanClient(origin),
  ) {
    this.plainHeaders = `Authorization: Bearer ${key}\r\n`
    this.jsonHeaders = `${this.plainHeaders}Content-Type: application/json\r\n`
  }

  /** @throws Error on any unexpected answer */
  async send({
    operation,
    method,
    status,
    expected,
    body,
    idempotencyKey,
    refusable,
  }: LoadRequest): Promise<LoadResponse> {
    const headers = body ? this.jsonHeaders : this.plainHeaders
    const answer = await this.http.send(
      method,
      `/v1/${operation}`,
      idempotencyKey ? `${headers}X-Svc-Idempotency-Key: ${idempotencyKey}\r\n` : headers,
      body ?? [],
    )
    const isRefusal = refusable && REFUSALS.has(answer.status)
    if (!isRefusal && (answer.status !== status || (expected && !answer.body.includes(expected))))
      throw new Error(`${operation} answered ${answer.status}: ${answer.body}`)
    return answer
  }

  close(): void {
    this.http.close()
  }
}

/** A JSON body whose image is the last field, so that the ready-made base64 only needs a head and a tail. */
function imageBody(fields: object, image: Buffer): Buffer[] {
  const head = JSON.stringify(fields)
  return [Buffer.from(`${head.slice(0, -1)},"image":"`), image, END_OF_BODY]
}

function toBase64(images: readonly Buffer[]): Buffer[] {
  return images.map((image) => Buffer.from(Buffer.from(image).toString('base64')))
}

let sequence = 0

function enrollCall(user: string, image: Buffer): LoadRequest {
  return {
    operation: 'enroll',
    method: 'POST',
    status: 201,
    body: imageBody({ user_id: user }, image),
    idempotencyKey: `enroll-${process.pid}-${++sequence}`,
  }
}

function verifyCall(user: string, image: Buffer): LoadRequest {
  const nonce = `${process.pid}-${++sequence}`
  return {
    operation: 'verify',
    method: 'POST',
    status: 200,
    expected: '"verdict":"approved"',
    body: imageBody({ user_id: user, action: ACTION, nonce }, image),
    idempotencyKey: `verify-${nonce}`,
  }
}

function deleteCall(user: string): LoadRequest {
  const body = [Buffer.from(JSON.stringify({ user_id: user }))]
  return { operation: 'delete', method: 'DELETE', status: 200, body }
}

const HEALTH_CALL: LoadRequest = { operation: 'health', method: 'GET', status: 200 }

/** Records only requests that began after the warm-up. */
class Recorder {
  private readonly result: LoadResult = {
    latenciesMs: { enroll: [], verify: [], delete: [], health: [] },
    verifyStagesMs: [],
    verifiedAtMs: [],
    refusals: [],
    requests: 0,
    wallMs: 0,
    cpuMs: 0,
  }
  private readonly startedMs = performance.now()
  private readonly countFromMs: number
  readonly endMs: number
  private cpuAtStart: NodeJS.CpuUsage | undefined
  private reportedMs = 0

  constructor(
    { warmUpSeconds, seconds }: { warmUpSeconds: number; seconds: number },
    private readonly report: (share: number) => void,
  ) {
    this.countFromMs = this.startedMs + warmUpSeconds * 1000
    this.endMs = this.countFromMs + seconds * 1000
  }

  get isOver(): boolean {
    return performance.now() >= this.endMs
  }

  /**
   * @param beganMs time at which the request is sent, or should have been
   * @returns the response, and whether it counts: not during the warm-up
   */
  async measure(
    client: Client,
    call: LoadRequest,
    beganMs = performance.now(),
  ): Promise<LoadResponse & { counted: boolean }> {
    const counted = beganMs >= this.countFromMs
    if (counted) this.cpuAtStart ??= process.cpuUsage()
    const answer = await client.send(call)
    const endedMs = performance.now()
    this.result.requests++
    const isRefusal = answer.status !== call.status
    const elapsedMs = endedMs - beganMs
    if (counted) {
      if (isRefusal) this.result.refusals.push({ status: answer.status, elapsedMs })
      else this.result.latenciesMs[call.operation].push(elapsedMs)
    }
    if (call.operation === 'verify' && !isRefusal && endedMs >= this.countFromMs && endedMs < this.endMs)
      this.result.verifiedAtMs.push(endedMs)
    if (endedMs - this.reportedMs > REPORT_MS) {
      this.reportedMs = endedMs
      this.report(Math.min(1, (endedMs - this.startedMs) / (this.endMs - this.startedMs)))
    }
    return { ...answer, counted }
  }

  noteStages({ head }: LoadResponse): void {
    const stages = [...head.matchAll(/(\w+);dur=([\d.]+)/g)]
    this.result.verifyStagesMs.push(Object.fromEntries(stages.map(([, stage, ms]) => [stage, Number(ms)])))
  }

  finish(): LoadResult {
    const { user, system } = process.cpuUsage(this.cpuAtStart)
    const wallMs = performance.now() - this.countFromMs
    return { ...this.result, wallMs, cpuMs: (user + system) / 1000 }
  }
}

/** Runs `work` `callers` times at once and waits for all of them, even when one fails: no request is left behind. */
async function together(callers: number, work: (caller: number) => Promise<void>): Promise<void> {
  const ends = await Promise.allSettled(Array.from({ length: callers }, (_, caller) => work(caller)))
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}

const ENROL_CALLERS = 4

async function perform(order: LoadOrder, report: (share: number) => void): Promise<LoadResult> {
  if (order.type === 'tenants') return visitTenants(order, new Recorder(order, report))
  const client = new Client(order.target)
  try {
    if (order.type === 'enrol') return await enrol(order, client, report)
    const recorder = new Recorder(order, report)
    if (order.type === 'verify') await verify(order, client, recorder)
    else if (order.type === 'arrivals') await arrive(order, client, recorder)
    else if (order.type === 'health') await askHealth(order, client, recorder)
    else await live(order, client, recorder)
    return recorder.finish()
  } finally {
    client.close()
  }
}

async function enrol(
  { users, images }: Extract<LoadOrder, { type: 'enrol' }>,
  client: Client,
  report: (share: number) => void,
): Promise<LoadResult> {
  const encoded = toBase64(images)
  const recorder = new Recorder({ warmUpSeconds: 0, seconds: 0 }, () => {})
  let next = 0
  await together(ENROL_CALLERS, async () => {
    for (let user = next++; user < users; user = next++) {
      const call = { ...enrollCall(`user-${user}`, encoded[user % encoded.length]!), refusable: true }
      for (let answer = await recorder.measure(client, call); REFUSALS.has(answer.status); ) {
        await sleep(patienceMs(answer.head))
        answer = await recorder.measure(client, call)
      }
      report(user / users)
    }
  })
  return recorder.finish()
}

/** A prime step: going round the users in such steps meets each once a round, and soon every part of the database. */
const STRIDE = 7919

/** Verifies of a loop, each of another user. */
function verifyCalls(
  { users, images }: { users: number; images: Buffer[] },
  refusable: boolean,
): () => LoadRequest {
  const encoded = toBase64(images)
  let next = 0
  return () => {
    const turn = next++
    return {
      ...verifyCall(`user-${(turn * STRIDE) % users}`, encoded[turn % encoded.length]!),
      refusable,
    }
  }
}

async function verify(
  { callers, patient = false, ...order }: Extract<LoadOrder, { type: 'verify' }>,
  client: Client,
  recorder: Recorder,
): Promise<void> {
  const nextCall = verifyCalls(order, patient)
  await untilOver(callers, recorder, () => [client, nextCall()])
}

/**
 * Each caller calls again and again, after a refusal if it may, until the time is over or a call of any caller has
 * failed.
 */
async function untilOver(
  callers: number,
  recorder: Recorder,
  next: () => [client: Client, call: LoadRequest],
): Promise<void> {
  let failed = false
  await together(callers, async () => {
    try {
      while (!recorder.isOver && !failed) {
        const { status, head } = await recorder.measure(...next())
        if (REFUSALS.has(status)) await sleep(Math.min(patienceMs(head), timeLeftMs(recorder)))
      }
    } catch (error) {
      failed = true
      throw error
    }
  })
}

async function visitTenants(
  { origin, keys, users, images, callers, first }: Extract<LoadOrder, { type: 'tenants' }>,
  recorder: Recorder,
): Promise<LoadResult> {
  const http = new LeanClient(origin)
  const clients = keys.map((key) => new Client({ origin, key }, http))
  const encoded = toBase64(images)
  let next = first
  try {
    await untilOver(callers, recorder, () => {
      const turn = next++
      const user = Math.floor(turn / clients.length) % users
      const call = verifyCall(`user-${user}`, encoded[turn % encoded.length]!)
      return [clients[turn % clients.length]!, { ...call, refusable: true }]
    })
    return recorder.finish()
  } finally {
    http.close()
  }
}

/** Waits for `Retry-After` and up to as long again at random, so that callers do not come back all at once. */
function patienceMs(head: string): number {
  const seconds = Number(/\r\nretry-after: *(\d+)/i.exec(head)?.[1] ?? 1)
  return seconds * 1000 * (1 + Math.random())
}

function timeLeftMs({ endMs }: Recorder): number {
  return Math.max(0, endMs - performance.now())
}

async function arrive(
  { ratePerSecond, ...order }: Extract<LoadOrder, { type: 'arrivals' }>,
  client: Client,
  recorder: Recorder,
): Promise<void> {
  const nextCall = verifyCalls(order, true)
  const random = randomNumbers(1)
  const underWay: Array<Promise<void>> = []
  let failure: unknown
  // The gaps of a Poisson process are exponentially distributed.
  const gapMs = () => (-Math.log(1 - random()) * 1000) / ratePerSecond
  for (let dueMs = performance.now() + gapMs(); dueMs < recorder.endMs && !failure; dueMs += gapMs()) {
    const waitMs = dueMs - performance.now()
    if (waitMs > 0) await sleep(Math.ceil(waitMs))
    underWay.push(
      recorder.measure(client, nextCall(), dueMs).then(
        () => {},
        (error: unknown) => {
          failure ??= error
        },
      ),
    )
  }
  await Promise.all(underWay)
  if (failure) throw failure
}

/** Pseudo-random numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

async function askHealth(
  { connections }: Extract<LoadOrder, { type: 'health' }>,
  client: Client,
  recorder: Recorder,
): Promise<void> {
  await together(connections, async () => {
    while (!recorder.isOver) await recorder.measure(client, HEALTH_CALL)
  })
}

async function live(
  { enrolImages, verifyImages }: Extract<LoadOrder, { type: 'lifecycle' }>,
  client: Client,
  recorder: Recorder,
): Promise<void> {
  const references = toBase64(enrolImages)
  const probes = toBase64(verifyImages)
  for (let turn = 0; !recorder.isOver; turn++) {
    const user = `passer-by-${turn}`
    await recorder.measure(client, enrollCall(user, references[turn % references.length]!))
    const verified = await recorder.measure(client, verifyCall(user, probes[turn % probes.length]!))
    if (verified.counted) recorder.noteStages(verified)
    await recorder.measure(client, HEALTH_CALL)
    await recorder.measure(client, deleteCall(user))
  }
}

serveOrders(perform)
