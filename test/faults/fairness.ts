/** One greedy tenant against nine polite ones, over real HTTP: what the polite ones lose by it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LeanClient } from '../../bench/lib/lean-client.js'
import { median, percentile, round } from '../../bench/lib/statistics.js'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { createTenant } from './crowd.js'
import { Installation } from './installation.js'

export interface FairnessOptions {
  /** With the greedy one beside the polite ones; as long without. Longer where it is too short for enough calls. */
  seconds: number
  workers: number
  /** Times count as well: on a machine that has nothing else to do. */
  judgesTime?: boolean
  /** All callers are one tenant's, which the service serves in the order of arrival: nobody has a part of their own. */
  isOneTenant?: boolean
  onProgress?: (line: string) => void
}

export interface FairnessReport {
  polite_alone_per_s: number
  /** Of the turn in the middle, as the next one and the ratio are. */
  polite_alone_p99_ms: number
  polite_beside_per_s: number
  polite_beside_p99_ms: number
  /** With the greedy one beside them, as a multiple of the turn before without. */
  p99_ratio: number
  /** The same in calls that were served, anybody's, while one of theirs waited: in time as a machine of even pace would have it. */
  p99_served_ratio: number
  polite_refused: number
  greedy_per_s: number
  greedy_refused: number
  /** Everything that was found wrong, in words. */
  problems: string[]
}

const POLITE_TENANTS = 9
/** Far more than the queue holds. */
const GREEDY_CALLERS = 100
/**
 * A fifth of what `Retry-After` says. The queue is full all the time; with a shorter one the refusals, and the client that makes them,
 * would take the engine's cores on a machine that has two.
 */
const PAUSE_MS = 200
/**
 * Alone, beside, alone, beside: one stall of the machine meets the calls of all nine at once, which is more than one in a hundred,
 * but it meets one turn.
 */
const TURNS = 5
/** Of each polite one in each turn: with all turns and tenants enough for a percentile that only one in a hundred exceeds. */
const MIN_CALLS = 12
/** How a hundred callers begin at once is no part of it. */
const LEAD_IN_MS = 500
const MAX_P99_RATIO = 2

/** At once, or when what waits has not come to its turn by the deadline. */
const REFUSALS = new Set([503, 504])

/** What one caller, or several, met. */
interface Round {
  admittedMs: number[]
  /** For each of these, how many calls had been served when it was, since it was sent. */
  served: number[]
  refused: number
}

export async function runFairness({
  seconds,
  workers,
  judgesTime = false,
  isOneTenant = false,
  onProgress,
}: FairnessOptions): Promise<FairnessReport> {
  const env = { COUNTERSIGN_WORKERS: String(workers) }
  return Installation.serving(env, async (server, installation) => {
    const image = base64(await face('ada'))
    const keys: string[] = []
    for (let i = 0; i < (isOneTenant ? 1 : POLITE_TENANTS + 1); i++)
      keys.push((await createTenant(installation, server.sandbox, `tenant-${i}`, image)).key)
    const counter = new Counter()
    const made = (name: string, i: number) =>
      new TenantCallers(server.production, keys[i % keys.length]!, name, image, counter)
    const greedy = made('greedy', 0)
    const polite = Array.from({ length: POLITE_TENANTS }, (_, i) => made(`polite-${i}`, i + 1))
    await greedy.enrol(GREEDY_CALLERS)
    for (const one of polite) await one.enrol(1)

    const take = async (isBeside: boolean): Promise<Turn> => {
      const startedMs = performance.now()
      const fromMs = startedMs + LEAD_IN_MS
      const untilMs = fromMs + (seconds * 1000) / TURNS
      let isOver = false
      const greed = isBeside ? greedy.call(GREEDY_CALLERS, fromMs, () => isOver) : joined([])
      // Each has one call under way at a time.
      const all = await Promise.all(
        polite.map((one) =>
          one.call(1, fromMs, (calls) => performance.now() >= untilMs && calls >= MIN_CALLS),
        ),
      )
      const elapsedMs = performance.now() - fromMs
      isOver = true
      return { polite: joined(all), greed: await greed, elapsedMs }
    }
    const alone: Turn[] = []
    const beside: Turn[] = []
    for (let turn = 1; turn <= TURNS; turn++) {
      alone.push(await take(false))
      beside.push(await take(true))
      const [without, with_] = [alone, beside].map((turns) => round(p99(turns.at(-1)!.polite.admittedMs), 1))
      onProgress?.(`${turn}/${TURNS}: p99 ${without} ms, beside the greedy one ${with_} ms`)
    }

    const problems = [greedy, ...polite].flatMap((one) => one.problems)
    const code = await server.stop()
    if (code !== 0) problems.push(`serve exited with ${code} at SIGTERM`)
    const [politeAlone, politeBeside] = [alone, beside].map((turns) =>
      joined(turns.map(({ polite }) => polite)),
    ) as [Round, Round]
    const ratio = median(
      beside.map((turn, i) => p99(turn.polite.admittedMs) / p99(alone[i]!.polite.admittedMs)),
    )
    const servedRatio = p99(politeBeside.served) / p99(politeAlone.served)
    if (judgesTime && ratio > MAX_P99_RATIO)
      problems.push(`the polite tenants' p99 is ${ratio.toFixed(2)} times as long`)
    if (servedRatio > MAX_P99_RATIO)
      problems.push(`the polite tenants' p99 is ${servedRatio.toFixed(2)} times as long in calls served`)
    if (politeBeside.refused > 0)
      problems.push(`${politeBeside.refused} calls of polite tenants were refused`)
    const greed = joined(beside.map((turn) => turn.greed))
    const perSecond = (calls: Round, turns: Turn[]) =>
      round((calls.admittedMs.length * 1000) / turns.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0), 1)
    const middleP99 = (turns: Turn[]) => round(median(turns.map(({ polite }) => p99(polite.admittedMs))), 1)
    return {
      polite_alone_per_s: perSecond(politeAlone, alone),
      polite_alone_p99_ms: middleP99(alone),
      polite_beside_per_s: perSecond(politeBeside, beside),
      polite_beside_p99_ms: middleP99(beside),
      p99_ratio: round(ratio, 2),
      p99_served_ratio: round(servedRatio, 2),
      polite_refused: politeBeside.refused,
      greedy_per_s: perSecond(greed, beside),
      greedy_refused: greed.refused,
      problems,
    }
  })
}

interface Turn {
  polite: Round
  greed: Round
  elapsedMs: number
}

/** Where nobody was served at all, it takes for ever. */
function p99(samples: readonly number[]): number {
  return samples.length > 0 ? percentile(samples, 0.99) : Number.POSITIVE_INFINITY
}

function joined(rounds: Round[]): Round {
  return {
    admittedMs: rounds.flatMap(({ admittedMs }) => admittedMs),
    served: rounds.flatMap(({ served }) => served),
    refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
  }
}

/** Of calls that were served, whoever's. */
class Counter {
  count = 0
}

class TenantCallers {
  readonly problems: string[] = []
  private readonly headers: string
  private readonly end: Buffer

  constructor(
    private readonly base: string,
    private readonly key: string,
    /** What its users' ids begin with. */
    private readonly name: string,
    private readonly image: string,
    private readonly served: Counter,
  ) {
    this.headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    this.end = Buffer.from(`","action":"login","image":"${image}"}`)
  }

  /** One user a caller, so that nobody's verifies have to wait for each other. */
  async enrol(users: number): Promise<void> {
    const client = apiClient(`${this.base}/v1`, this.key)
    for (let i = 0; i < users; i++) {
      const { status, text } = await client.enroll({ user_id: `${this.name}-${i}`, image: this.image })
      if (status !== 201) throw new Error(`enrolment answered ${status}: ${text}`)
    }
  }

  /**
   * Calls from now on; what is sent before `fromMs` does not count.
   * @param isOver told of how many calls of this caller have been answered and count
   */
  async call(callers: number, fromMs: number, isOver: (calls: number) => boolean): Promise<Round> {
    // New connections: those that idled for a turn may be closed by the service just when they are used.
    const client = new LeanClient(this.base)
    const caller = async (_: unknown, i: number): Promise<Round> => {
      const result: Round = { admittedMs: [], served: [], refused: 0 }
      const answered = () => result.admittedMs.length + result.refused
      const body = [Buffer.from(`{"user_id":"${this.name}-${i}`), this.end]
      while (!isOver(answered())) {
        const sentMs = performance.now()
        const servedAtFirst = this.served.count
        // Where a refusal comes before the body, and the body not soon, the service hangs up.
        const answer = await client.send('POST', '/v1/verify', this.headers, body).catch(() => null)
        const isInTurn = sentMs >= fromMs
        if (answer?.status === 200) {
          this.served.count++
          if (!isInTurn) continue
          result.admittedMs.push(performance.now() - sentMs)
          result.served.push(this.served.count - servedAtFirst)
          continue
        }
        if (answer && !REFUSALS.has(answer.status))
          this.problems.push(`answered ${answer.status}: ${answer.body.toString()}`)
        else if (isInTurn) result.refused++
        await sleep(PAUSE_MS)
      }
      return result
    }
    const results = await Promise.all(Array.from({ length: callers }, caller))
    client.close()
    return joined(results)
  }
}
