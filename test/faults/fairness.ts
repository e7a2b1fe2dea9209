/** One greedy tenant against nine polite ones, over real HTTP: what the polite ones lose by it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { LeanClient } from '../../bench/lib/lean-client.js'
import { percentile, round } from '../../bench/lib/statistics.js'
import { apiClient } from '../support/client.js'
import { base64, face } from '../support/faces.js'
import { createTenant } from './crowd.js'
import { Installation } from './installation.js'

export interface FairnessOptions {
  /** Of each of the two rounds. */
  seconds: number
  workers: number
  onProgress?: (line: string) => void
}

export interface FairnessReport {
  polite_alone_per_s: number
  polite_alone_p99_ms: number
  polite_beside_per_s: number
  polite_beside_p99_ms: number
  /** With the greedy one beside them, as a multiple of without. */
  p99_ratio: number
  polite_refused: number
  greedy_per_s: number
  greedy_refused: number
  /** Everything that was found wrong, in words. */
  problems: string[]
}

const POLITE_TENANTS = 9
/** Far more than the queue holds. */
const GREEDY_CALLERS = 100
/** It does not wait as `Retry-After` says; without any pause the machine would measure the greedy one's own client. */
const GREEDY_PAUSE_MS = 50
const MOST_P99_RATIO = 2

/** At once, or when what waits has not come to its turn by the deadline. */
const REFUSALS = new Set([503, 504])

interface Round {
  admittedMs: number[]
  refused: number
}

export async function runFairness({
  seconds,
  workers,
  onProgress,
}: FairnessOptions): Promise<FairnessReport> {
  const env = { COUNTERSIGN_WORKERS: String(workers) }
  return Installation.serving(env, async (server, installation) => {
    const image = base64(await face('ada'))
    const callers: TenantCallers[] = []
    for (let i = 0; i <= POLITE_TENANTS; i++) {
      const { key } = await createTenant(installation, server.sandbox, `tenant-${i}`, image)
      callers.push(new TenantCallers(server.production, key, image))
    }
    const [greedy, ...polite] = callers as [TenantCallers, ...TenantCallers[]]
    await greedy.enrol(GREEDY_CALLERS)
    for (const one of polite) await one.enrol(1)
    /** Each polite one has one call under way at a time. */
    const behave = async (until: number) =>
      joined(await Promise.all(polite.map((one) => one.call(1, until, 0))))
    const after = () => performance.now() + seconds * 1000
    onProgress?.(`${POLITE_TENANTS} polite tenants for ${seconds} s`)
    const alone = await behave(after())
    onProgress?.(`the same beside ${GREEDY_CALLERS} callers of one tenant`)
    const until = after()
    const [beside, greed] = await Promise.all([
      behave(until),
      greedy.call(GREEDY_CALLERS, until, GREEDY_PAUSE_MS),
    ])
    const problems = callers.flatMap((one) => one.problems)
    for (const one of callers) one.close()
    const code = await server.stop()
    if (code !== 0) problems.push(`serve exited with ${code} at SIGTERM`)
    const p99 = (of: Round) => percentile(of.admittedMs, 0.99)
    const perSecond = (of: Round) => round(of.admittedMs.length / seconds, 1)
    const ratio = p99(beside) / p99(alone)
    if (ratio > MOST_P99_RATIO) problems.push(`the polite tenants' p99 is ${ratio.toFixed(2)} times as long`)
    if (beside.refused > 0) problems.push(`${beside.refused} calls of polite tenants were refused`)
    return {
      polite_alone_per_s: perSecond(alone),
      polite_alone_p99_ms: round(p99(alone), 1),
      polite_beside_per_s: perSecond(beside),
      polite_beside_p99_ms: round(p99(beside), 1),
      p99_ratio: round(ratio, 2),
      polite_refused: beside.refused,
      greedy_per_s: perSecond(greed),
      greedy_refused: greed.refused,
      problems,
    }
  })
}

function joined(rounds: Round[]): Round {
  return {
    admittedMs: rounds.flatMap(({ admittedMs }) => admittedMs),
    refused: rounds.reduce((sum, { refused }) => sum + refused, 0),
  }
}

class TenantCallers {
  readonly problems: string[] = []
  private readonly client: LeanClient
  private readonly headers: string
  private readonly end: Buffer

  constructor(
    private readonly base: string,
    private readonly key: string,
    private readonly image: string,
  ) {
    this.client = new LeanClient(base)
    this.headers = `Authorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
    this.end = Buffer.from(`","action":"login","image":"${image}"}`)
  }

  /** One user a caller, so that nobody's verifies have to wait for each other. */
  async enrol(users: number): Promise<void> {
    const client = apiClient(`${this.base}/v1`, this.key)
    for (let i = 0; i < users; i++) {
      const { status, text } = await client.enroll({ user_id: `user-${i}`, image: this.image })
      if (status !== 201) throw new Error(`enrolment answered ${status}: ${text}`)
    }
  }

  async call(callers: number, until: number, pauseMs: number): Promise<Round> {
    const result: Round = { admittedMs: [], refused: 0 }
    const caller = async (_: unknown, i: number) => {
      const body = [Buffer.from(`{"user_id":"user-${i}`), this.end]
      while (performance.now() < until) {
        const sentAt = performance.now()
        const { status, body: answer } = await this.client.send('POST', '/v1/verify', this.headers, body)
        if (status === 200) result.admittedMs.push(performance.now() - sentAt)
        else if (REFUSALS.has(status)) result.refused++
        else this.problems.push(`answered ${status}: ${answer.toString()}`)
        if (status !== 200) await sleep(pauseMs)
      }
    }
    await Promise.all(Array.from({ length: callers }, caller))
    return result
  }

  close(): void {
    this.client.close()
  }
}
