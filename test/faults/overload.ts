/** Sends twenty times the callers that saturate the service, and counts the admitted, the refused and those without an answer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type LeanAnswer, LeanClient } from '../../bench/lib/lean-client.js'
import { percentile, round } from '../../bench/lib/statistics.js'
import { base64, face } from '../support/faces.js'
import { residentMib } from '../support/process-tree.js'
import { validSignatures } from '../support/trust.js'
import type { CrowdTenant } from './caller.js'
import { createTenant, enrolUsers } from './crowd.js'
import { Installation } from './installation.js'

export interface OverloadOptions {
  /** Seconds of overload. The capacity is measured for a tenth of it, but for at least three seconds. */
  seconds: number
  workers: number
  onProgress?: (line: string) => void
}

/** Tasks that a worker holds: enough to keep it busy without long waits. */
const CALLERS_PER_WORKER = 4
const FACTOR = 20
const CAPACITY_SHARE = 0.1
const CAPACITY_LEAST_SECONDS = 3
const REFUSALS: Record<string, number> = { overloaded: 503, rate_limited: 429, deadline_exceeded: 504 }
const PROBLEMS_SHOWN = 20

interface Round {
  admittedMs: number[]
  refusedMs: number[]
  seconds: number
}

export async function runOverload({ seconds, workers, onProgress }: OverloadOptions) {
  const env = { COUNTERSIGN_WORKERS: String(workers) }
  return Installation.serving(env, async (server, installation) => {
    const image = base64(await face('ada'))
    const tenant = await createTenant(installation, server.sandbox, 'acme', image)
    const crowd = new Callers(server.production, tenant, image)
    const few = CALLERS_PER_WORKER * workers
    await crowd.enrol(FACTOR * few)
    const capacitySeconds = Math.max(CAPACITY_LEAST_SECONDS, CAPACITY_SHARE * seconds)
    onProgress?.(`${few} callers for ${capacitySeconds} s`)
    const calm = await crowd.call(few, capacitySeconds)
    const rssStart = residentMib(server.pid)
    onProgress?.(`${FACTOR * few} callers for ${seconds} s`)
    const crowded = await crowd.call(FACTOR * few, seconds)
    const rssEnd = residentMib(server.pid)
    crowd.close()
    const code = await server.stop()
    if (code !== 0) crowd.problems.push(`serve exited with ${code} at SIGTERM`)
    const perSecond = (one: Round) => one.admittedMs.length / one.seconds
    return {
      /** Verifies per second with as many callers as the workers hold tasks. */
      capacity_per_s: round(perSecond(calm), 1),
      /** Verifies per second under overload, as a fraction of the capacity. */
      kept_ratio: round(perSecond(crowded) / perSecond(calm), 3),
      admitted_p99_ms: round(percentile(crowded.admittedMs, 0.99), 1),
      refused: crowded.refusedMs.length,
      refused_p50_ms: crowded.refusedMs.length > 0 ? round(percentile(crowded.refusedMs, 0.5), 1) : 0,
      /** Resident memory of the service and its engine process in MB, before and after the overload. */
      rss_start_mb: round(rssStart, 0),
      rss_end_mb: round(rssEnd, 0),
      unanswered: crowd.unanswered,
      unsigned: crowd.unsigned,
      problems: crowd.problems.slice(0, PROBLEMS_SHOWN),
    }
  })
}

class Callers {
  unanswered = 0
  unsigned = 0
  readonly problems: string[] = []
  private readonly client: LeanClient
  private readonly headers: string
  private readonly image: Buffer
  private users = 0
  private turn = 0

  constructor(
    private readonly base: string,
    private readonly tenant: CrowdTenant,
    image: string,
  ) {
    this.client = new LeanClient(base)
    this.headers = `Authorization: Bearer ${tenant.key}\r\nContent-Type: application/json\r\n`
    this.image = Buffer.from(`","action":"login","image":"${image}"}`)
  }

  /** Enrolls one user for each caller, because the verifies of one user wait for each other. */
  async enrol(users: number): Promise<void> {
    await enrolUsers(this.base, this.tenant.key, 'user', users, base64(await face('ada')))
    this.users = users
  }

  /** Runs callers that verify one user after the other. A refused caller waits as long as the answer says, and up to twice as long. */
  async call(callers: number, seconds: number): Promise<Round> {
    const result: Round = { admittedMs: [], refusedMs: [], seconds }
    const until = performance.now() + seconds * 1000
    const caller = async () => {
      while (performance.now() < until) {
        const waitSeconds = await this.verify(result)
        if (waitSeconds > 0)
          await sleep(
            Math.min(waitSeconds * 1000 * (1 + Math.random()), Math.max(0, until - performance.now())),
          )
      }
    }
    const started = performance.now()
    await Promise.all(Array.from({ length: callers }, caller))
    result.seconds = (performance.now() - started) / 1000
    return result
  }

  close(): void {
    this.client.close()
  }

  /** @returns the seconds to wait before the next call */
  private async verify(result: Round): Promise<number> {
    const user = this.turn++ % this.users
    const sentAt = performance.now()
    let answer: LeanAnswer
    try {
      const body = [Buffer.from(`{"user_id":"user-${user}`), this.image]
      answer = await this.client.send('POST', '/v1/verify', this.headers, body)
    } catch (error) {
      this.unanswered++
      this.problems.push(`no answer: ${(error as Error).message}`)
      return 0
    }
    const elapsedMs = performance.now() - sentAt
    const { status, headers, text } = this.checkSigned(answer)
    if (status === 200) {
      result.admittedMs.push(elapsedMs)
      return 0
    }
    result.refusedMs.push(elapsedMs)
    const { code } = JSON.parse(text)
    const retryAfter = Number(headers.get('retry-after'))
    if (REFUSALS[code] !== status || (status !== 504 && !(retryAfter > 0)))
      this.problems.push(`refused with ${status} ${text}, Retry-After ${headers.get('retry-after')}`)
    return retryAfter
  }

  private checkSigned({ status, head, body }: LeanAnswer): {
    status: number
    headers: Headers
    text: string
  } {
    const headers = new Headers(
      head
        .split('\r\n')
        .slice(1)
        .map((line) => {
          const colon = line.indexOf(':')
          return [line.slice(0, colon), line.slice(colon + 1).trim()] as [string, string]
        }),
    )
    const text = body.toString()
    const request = { method: 'POST', target: '/v1/verify' }
    if (
      validSignatures({ status, headers, text, body: undefined, request }, this.tenant.secrets).length === 0
    ) {
      this.unsigned++
      this.problems.push(`${status} without a valid signature`)
    }
    return { status, headers, text }
  }
}
