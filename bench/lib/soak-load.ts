/**
 * The soak's load: all endpoints at a steady rate through the SDK, and a record of every effect that the service has
 * acknowledged.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Answer,
  ApiError,
  ConnectionError,
  Countersign,
  type RotateSigningResult,
  TimeoutError,
} from '../../clients/node/index.js'
import type { Captures } from './captures.js'
import type { RunningService } from './service-process.js'

/** Share of each call, of a hundred. Together with the bounds of the population, as many users come as go. */
const MIX = {
  approve: 46,
  reject: 16,
  health: 14,
  replay: 8,
  enroll: 6,
  erase: 6,
  sandbox: 3,
  rotate: 1,
} as const

export type SoakCall = keyof typeof MIX
export const CALLS = Object.keys(MIX) as SoakCall[]
/** List of calls in which each appears as often as its share. */
const BAG = CALLS.flatMap((call) => Array.from({ length: MIX[call] }, () => call))

const USERS = { least: 40, most: 80 } as const
/** Failed verifies in a row: fewer than lock a user out, so that the mix stays the same. */
const MAX_REJECTIONS_IN_A_ROW = 3
const MAX_IMAGES_OF_ENROLMENT = 3
/** Number of attempts: a refused effect is requested again with its own idempotency key until its result is known. */
const REPEAT = { times: 12, firstPauseMs: 1000, longestPauseMs: 30_000 } as const
/** At most as many calls run at once as arrive in this many seconds: with more, the client itself would be measured. */
const MAX_SECONDS_UNDER_WAY = 15

interface User {
  id: string
  enrolment: { key: string; images: Buffer[]; reference: string }
  rejectedInARow: number
}

export interface Core {
  /** Request ids of acknowledged effects, with the audit log's name of the event. */
  effects: Array<{ event: string; requestId: string }>
  live: Map<string, User>
  erased: Array<{ id: string; receipt: string }>
  /** Sentences about responses that no caller may see. */
  problems: string[]
}

export interface Window {
  latenciesMs: Record<SoakCall, number[]>
  /**
   * Refusals by code; they are no answer to the caller's question, and no effect. `unanswered` are calls that the
   * client gave up.
   */
  refusals: Record<string, number>
  /** Calls that were due and not made, because too many were running. */
  skipped: number
}

export class SoakLoad {
  readonly core: Core = { effects: [], live: new Map(), erased: [], problems: [] }
  private readonly client: Countersign
  private readonly sandboxClient: Countersign
  private secrets: Array<{ id: string; secret: string }>
  private readonly idle: User[] = []
  private rotating = false
  private enrolled = 0
  private window = emptyWindow()
  private readonly underWay = new Set<Promise<void>>()

  constructor(
    { production, sandbox, key, sandboxKey, signingSecret }: RunningService,
    private readonly captures: Captures,
    private readonly strangers: Buffer[],
  ) {
    this.secrets = [signingSecret]
    const options = { signingSecret: () => this.secrets, maxRetries: 0 }
    this.client = new Countersign({ ...options, apiKey: key, baseUrl: `${production}/v1` })
    this.sandboxClient = new Countersign({ ...options, apiKey: sandboxKey, baseUrl: `${sandbox}/v1` })
  }

  /**
   * Runs a closed loop, once the population is complete. Its calls count for the record of effects, and not for a
   * window.
   * @returns responses per second while `underWay` calls always run
   */
  async measureCapacity(underWay: number, seconds: number): Promise<number> {
    const callWhile = async (goesOn: () => boolean) => {
      while (goesOn()) await this.step(performance.now())
    }
    const loops = (goesOn: () => boolean) =>
      Promise.all(Array.from({ length: underWay }, () => callWhile(goesOn)))
    await loops(() => this.enrolled < USERS.least)
    this.takeWindow()
    const startedMs = performance.now()
    await loops(() => performance.now() - startedMs < seconds * 1000)
    const tookSeconds = (performance.now() - startedMs) / 1000
    const answers = Object.values(this.takeWindow().latenciesMs).flat()
    return answers.length / tookSeconds
  }

  /**
   * Runs an open loop: calls do not wait for the responses of others, and latency counts from the time at which a
   * call was due.
   */
  async run(ratePerSecond: number, seconds: number): Promise<void> {
    const startedMs = performance.now()
    for (let i = 0; i < ratePerSecond * seconds; i++) {
      const dueMs = startedMs + (i * 1000) / ratePerSecond
      await sleep(Math.max(0, dueMs - performance.now()))
      if (this.underWay.size >= ratePerSecond * MAX_SECONDS_UNDER_WAY) {
        this.window.skipped++
        continue
      }
      const call = this.step(dueMs).finally(() => this.underWay.delete(call))
      this.underWay.add(call)
    }
    await Promise.all(this.underWay)
  }

  /** Returns the figures since the last window. */
  takeWindow(): Window {
    const { window } = this
    this.window = emptyWindow()
    return window
  }

  /** Checks at the end, with no call running, that everything acknowledged still holds. */
  async settle(): Promise<void> {
    for (const user of this.core.live.values())
      await this.note(() => this.untilKnown(() => this.replayEnrolment(user)))
    for (const { id, receipt } of this.core.erased)
      await this.note(async () => {
        const again = await this.untilKnown(() => this.client.delete(id))
        if (again.erasure_id !== receipt) this.core.problems.push(`${id}: another receipt of its erasure`)
      })
  }

  private async step(dueMs: number): Promise<void> {
    const call = this.choose()
    await this.note(() => this[call](), { call, dueMs })
  }

  /** Chooses a call by the mix, within the bounds of the population. */
  private choose(): SoakCall {
    const call = any(BAG)
    if (call === 'health' || call === 'sandbox') return call
    if (this.enrolled - this.core.erased.length < USERS.least) return 'enroll'
    if (this.idle.length === 0) return 'health'
    if (call === 'enroll' && this.enrolled - this.core.erased.length >= USERS.most) return 'erase'
    return call === 'rotate' && this.rotating ? 'health' : call
  }

  private async health(): Promise<void> {
    await this.client.health()
  }

  private async approve(): Promise<void> {
    await this.withUser((user) => this.verify(user, any(this.captures.verifyImages), 'approved'))
  }

  private async reject(): Promise<void> {
    await this.withUser((user) =>
      user.rejectedInARow >= MAX_REJECTIONS_IN_A_ROW
        ? this.verify(user, any(this.captures.verifyImages), 'approved')
        : this.verify(user, any(this.strangers), 'rejected'),
    )
  }

  private async verify(user: User, image: Buffer, expected: 'approved' | 'rejected'): Promise<void> {
    const action = { type: 'transfer', amount: this.enrolled }
    const answer = await this.client.verify({ user_id: user.id, action, image })
    if (answer.verdict !== expected)
      this.core.problems.push(`${user.id}: ${answer.verdict} (${answer.reason}) instead of ${expected}`)
    user.rejectedInARow = answer.verdict === 'approved' ? 0 : user.rejectedInARow + 1
    this.acknowledge('verify', answer)
  }

  private async replay(): Promise<void> {
    await this.withUser((user) => this.replayEnrolment(user))
  }

  private async replayEnrolment(user: User): Promise<void> {
    const { key, images, reference } = user.enrolment
    const answer = await this.client.enroll({ user_id: user.id, images }, { idempotencyKey: key })
    if (!answer.response.replayed) this.core.problems.push(`${user.id}: enrolled twice`)
    else if (answer.reference_id !== reference) this.core.problems.push(`${user.id}: the replay differs`)
  }

  private async enroll(): Promise<void> {
    const id = `user-${++this.enrolled}`
    const count = 1 + (this.enrolled % MAX_IMAGES_OF_ENROLMENT)
    const images = this.captures.enrolImages.slice(0, count)
    const key = randomUUID()
    const answer = await this.untilKnown(() =>
      this.client.enroll({ user_id: id, images }, { idempotencyKey: key }),
    )
    const user: User = { id, enrolment: { key, images, reference: answer.reference_id }, rejectedInARow: 0 }
    this.acknowledge('enroll', answer)
    this.core.live.set(id, user)
    this.idle.push(user)
  }

  private async erase(): Promise<void> {
    const user = this.takeIdle()
    const answer = await this.untilKnown(() => this.client.delete(user.id))
    this.acknowledge('delete', answer)
    this.core.live.delete(user.id)
    this.core.erased.push({ id: user.id, receipt: answer.erasure_id })
  }

  private async sandbox(): Promise<void> {
    const image = any(this.captures.verifyImages)
    await this.sandboxClient.verify({ user_id: 'soak+match', action: 'login', image })
  }

  private async rotate(): Promise<void> {
    this.rotating = true
    try {
      const answer = await this.rotateUntilTold()
      this.secrets = [answer.signing_secret, this.secrets[0]!]
      this.acknowledge('rotate_signing', answer)
    } finally {
      this.rotating = false
    }
  }

  /** Rotates the secret once more if the response was lost: a secret is shown only once. */
  private async rotateUntilTold(): Promise<Answer<RotateSigningResult>> {
    for (;;) {
      const idempotencyKey = randomUUID()
      try {
        return await this.untilKnown(() => this.client.rotateSigning({ force: true }, { idempotencyKey }))
      } catch (error) {
        if (!(error instanceof ApiError && error.code === 'secret_already_told')) throw error
      }
    }
  }

  private async withUser(work: (user: User) => Promise<void>): Promise<void> {
    const user = this.takeIdle()
    // The user returns after a failure too: a refusal leaves the user as it was.
    await work(user).finally(() => this.idle.push(user))
  }

  private takeIdle(): User {
    const [user] = this.idle.splice(Math.floor(Math.random() * this.idle.length), 1)
    return user!
  }

  private async untilKnown<T>(ask: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries++)
      try {
        return await ask()
      } catch (error) {
        if (!isRefusal(error) || tries === REPEAT.times) throw error
        this.count(error)
        // The pause doubles: callers that retry at the same pace would keep an overload going.
        await sleep(Math.min(REPEAT.firstPauseMs * 2 ** (tries - 1), REPEAT.longestPauseMs))
      }
  }

  /** Recognizes a replay: its effect stands under the first request, whose response never came. */
  private acknowledge(event: string, { response }: Answer<unknown>): void {
    if (!response.replayed) this.core.effects.push({ event, requestId: response.requestId })
  }

  private async note(work: () => Promise<void>, timing?: { call: SoakCall; dueMs: number }): Promise<void> {
    try {
      await work()
      if (timing) this.window.latenciesMs[timing.call].push(performance.now() - timing.dueMs)
    } catch (error) {
      if (isRefusal(error) && timing) this.count(error)
      else this.core.problems.push(`${timing?.call ?? 'at the end'}: ${error}`)
    }
  }

  private count(error: Refusal): void {
    const code = error instanceof ApiError ? error.code : 'unanswered'
    this.window.refusals[code] = (this.window.refusals[code] ?? 0) + 1
  }
}

/** Refusals that say when to retry. */
const NOT_DONE = new Set(['overloaded', 'engine_unavailable', 'deadline_exceeded', 'idempotency_in_progress'])

type Refusal = ApiError | ConnectionError | TimeoutError

/** Reports that nothing was done; or, where no response came, that only the same idempotency key can show it. */
function isRefusal(error: unknown): error is Refusal {
  return (
    (error instanceof ApiError && NOT_DONE.has(error.code)) ||
    error instanceof ConnectionError ||
    error instanceof TimeoutError
  )
}

function emptyWindow(): Window {
  return {
    latenciesMs: Object.fromEntries(CALLS.map((call) => [call, []])) as never,
    refusals: {},
    skipped: 0,
  }
}

function any<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!
}
