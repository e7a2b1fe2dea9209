/** A well-behaved caller: sends idempotency keys, and tries other nodes until a request is answered for good. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../src/config/config.js'
import type { Random } from '../hostile/random.js'
import type { ApiResponse } from '../support/client.js'
import type { ChaosNode } from './chaos-node.js'
import type { ChaosTenant, Journal } from './journal.js'

export interface Request {
  tenant: ChaosTenant
  environment: Environment
  method: string
  path: string
  body?: unknown
  key?: string
}

/** Longer than the service's own deadline of ten seconds: a call that takes longer was lost by the service. */
const PATIENCE_MS = 14_000
const PAUSE_MS = { least: 30, most: 300 }
/** How long calls under way at the end of the campaign may take to be answered. */
export const LAST_ANSWER_MS = 60_000
const USES_ENGINE = / \/v1\/(?:enroll|verify) /
const IN_PROGRESS = 'idempotency_in_progress'

export class Caller {
  constructor(
    readonly nodes: readonly ChaosNode[],
    readonly journal: Journal,
    readonly random: Random,
    /** Aborts when the campaign is over and all faults have ended. */
    private readonly over: AbortSignal,
  ) {}

  post(tenant: ChaosTenant, environment: Environment, path: string, body: unknown): Request {
    return { tenant, environment, method: 'POST', path, body, key: randomUUID() }
  }

  /** @param first the node that is asked first */
  async send(request: Request, first = this.random.pick(this.nodes)): Promise<ApiResponse> {
    let giveUpMs = Number.POSITIVE_INFINITY
    for (let node = first; ; node = this.random.pick(this.nodes)) {
      const answer = node.isAway ? null : await this.ask(node, request)
      if (answer) return answer
      if (this.over.aborted) giveUpMs = Math.min(giveUpMs, performance.now() + LAST_ANSWER_MS)
      if (performance.now() > giveUpMs)
        throw new Error(`${describe(request)} gets no answer, though all is well again`)
      await sleep(PAUSE_MS.least + this.random.next() * (PAUSE_MS.most - PAUSE_MS.least))
    }
  }

  /** Sends a request once, to one node. @returns null when there was no answer that decides the request */
  async ask(
    node: ChaosNode,
    { tenant, environment, method, path, body, key }: Request,
  ): Promise<ApiResponse | null> {
    const { journal } = this
    const startedMs = performance.now()
    const what = `${method} ${path} at ${node.name}`
    let answer: ApiResponse
    try {
      answer = await node.client(environment, tenant.keys[environment]).call(method, path, body, {
        headers: key ? { 'X-Svc-Idempotency-Key': key } : {},
        signal: AbortSignal.timeout(PATIENCE_MS),
      })
    } catch (error) {
      // A process that was killed or stopped cannot answer; any other must.
      if (node.wasAway(startedMs)) journal.unanswered++
      else journal.broken.push(`${what}: ${reasonOf(error as Error)}`)
      return null
    }
    return this.isOfSubstance(answer, what, node.wasAway(startedMs)) ? answer : null
  }

  private isOfSubstance(
    { status, body, headers, text }: ApiResponse,
    what: string,
    wasAway: boolean,
  ): boolean {
    const { journal } = this
    const code = body?.code ?? `${status}`
    if (status < 500 && status !== 429 && code !== IN_PROGRESS) return true
    journal.refused[code] = (journal.refused[code] ?? 0) + 1
    // 504 is excused for a process that stood still beyond its deadline, and for an engine without CPU time, which is not the database's
    // fault.
    if (status === 504 && (wasAway || USES_ENGINE.test(what))) return false
    if (status !== 503 && code !== IN_PROGRESS) journal.broken.push(`${what}: ${status} ${text}`)
    else if (!(Number(headers.get('retry-after')) > 0))
      journal.broken.push(`${what}: ${code} without Retry-After`)
    return false
  }
}

export function isReplay({ headers }: ApiResponse): boolean {
  return headers.get('x-svc-idempotent-replay') === 'true'
}

export function describe({ method, path, body, key }: Request): string {
  const user = (body as { user_id?: string } | undefined)?.user_id
  return [method, path, user, key].filter(Boolean).join(' ')
}

function reasonOf(error: Error): string {
  const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException
  return `${error.name} ${code ?? ''} ${message}`
}
