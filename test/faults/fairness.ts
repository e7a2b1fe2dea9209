/** Measures over real HTTP what nine polite tenants lose because of a greedy one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LeanClient } from '../../bench/lib/lean-client.js'
import { median, percentile, round } from '../../bench/lib/statistics.js'
import { base64, face } from '../support/faces.js'
import { createTenant, enrolUsers } from './crowd.js'
import { Installation } from './installation.js'

export interface FairnessOptions {
  /** Seconds of load with the greedy tenant, and the same without; extended when there are too few calls. */
  seconds: number
  workers: number
  /** Whether times count too, on a machine without other load. */
  judgesTime?: boolean
  /** Makes all callers one tenant's, which the service serves in the order of arrival, for comparison. */
  isOneTenant?: boolean
  onProgress?: (line: string) => void
}

const POLITE_TENANTS = 9
/** Far more callers than the queue holds. */
const GREEDY_CALLERS = 100
/**
 * A fifth of `Retry-After`. The queue is always full. After a shorter pause the refusals, and the client that sends the calls, would use
 * the cores of the engine on a machine with two.
 */
const PAUSE_MS = 200
/**
 * Alternating turns without and with the greedy tenant. One stall of the machine affects the calls of all nine at once, which is more than
 * one in a hundred, but only in one turn.
 */
const TURNS = 5
/** Calls of each polite tenant in each turn: with all turns and tenants enough for a p99. */
const MIN_CALLS = 12
/** Leaves out the start, at which a hundred callers begin at once. */
const LEAD_IN_MS = 500
const MAX_P99_RATIO = 2

/** Statuses of a call that is refused at once, or has waited in the queue until its deadline. */
const REFUSALS = new Set([503, 504])

/** Results of one caller or of several. */
interface Round {
  admittedMs: number[]
  /** Number of calls that were served while each of these calls waited. */
  served: number[]
  refused: number
}

export async function runFairness({
  seconds,
  workers,
  judgesTime = false,
  isOneTenant = false,
  onProgress,
}: FairnessOptions) {
  const env = { COUNTERSIGN_WORKERS: String(workers) }
  return Installation.serving(env, async (server, installation) => {
    const image = base64(await face('ada'))
    const keys: string[] = []
    for (let i = 0; i < (isOneTenant ? 1 : POLITE_TENANTS + 1); i++)
      keys.push((await createTenant(installation, server.sandbox, `tenant-${i}`, image)).key)
    const served = { count: 0 }
    const made = (name: string, i: number) =>
      new TenantCallers(server.production, keys[i % keys.length]!, name, image, served)
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
      // Each caller has one call under way at a time.
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
      /** p99 with the greedy tenant, divided by the p99 of the turn before without it. */
      p99_ratio: round(ratio, 2),
      /**
       * The same ratio, counted in calls of any tenant that were served while one of theirs waited: a time that does not depend on the pace
       * of the machine.
       */
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

/** Infinite when no call was served. */
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

class TenantCallers {
  readonly problems: string[] = []
  private readonly headers: string
  private readonly end: Buffer

  constructor(
    private readonly base: string,
    private readonly key: string,
    /** Prefix of the ids of this tenant's users. */
    private readonly name: string,
    private readonly image: string,
    /** The calls of all tenants that were served. */
    private readonly served: { count: number },
  ) {
    this.headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    this.end = Buffer.from(`","action":"login","image":"${image}"}`)
  }

  /** Enrolls one user for each caller, because the verifies of one user wait for each other. */
  enrol(users: number): Promise<void> {
    return enrolUsers(this.base, this.key, this.name, users, this.image)
  }

  /**
   * Calls from now on; calls sent before `fromMs` do not count.
   * @param isOver gets the number of counted calls of this caller
   */
  async call(callers: number, fromMs: number, isOver: (calls: number) => boolean): Promise<Round> {
    // New connections, because the service may close connections that were idle for a turn just when they are used.
    const client = new LeanClient(this.base)
    const caller = async (_: unknown, i: number): Promise<Round> => {
      const result: Round = { admittedMs: [], served: [], refused: 0 }
      const answered = () => result.admittedMs.length + result.refused
      const body = [Buffer.from(`{"user_id":"${this.name}-${i}`), this.end]
      while (!isOver(answered())) {
        const sentMs = performance.now()
        const servedAtFirst = this.served.count
        // The service hangs up when it refuses before the body and the body is slow.
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
