/** A caller of the campaign: does one thing after another, and remembers what was acknowledged and what is uncertain. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiResponse, apiClient } from '../support/client.js'
import { validSignatures } from '../support/trust.js'

/** Uniform in [0, 1). */
export type Random = () => number

/** Observations of the whole campaign, and the problems it has found. */
export interface Findings {
  acknowledged: number
  /** Request ids of first executions, by tenant and audit event. */
  executed: Array<{ tenantId: string; event: string; requestId: string }>
  /** Executions known only from a replay: the answer to the first request was lost with the process. */
  recovered: Array<{ tenantId: string; event: string }>
  lost: string[]
  executedTwice: string[]
  broken: string[]
  /** Number of refusals that the fault excuses, by code. */
  refused: Record<string, number>
  /** Request ids of all answers that arrived. */
  answered: Set<string>
  /** Requests that got no answer on their connection, whether or not the service received them. */
  unanswered: number
}

export interface CrowdTenant {
  id: string
  key: string
  /** Secrets that may sign, by `kid`: the instance's, and all that were revealed to the tenant. */
  secrets: Record<string, string>
}

/** Pause between a refusal and the next attempt, because callers are many and the fault lasts. */
const REFUSED_PAUSE_MS = 20

interface Keyed {
  event: 'enroll' | 'rotate_signing'
  path: string
  body: unknown
  key: string
}

interface User {
  id: string
  enrolment: Keyed
  /** The answer to the enrollment; null while uncertain. */
  answer: string | null
}

export class Caller {
  /** The user who is enrolled and not erased. There is one at a time, so that at most one effect of a caller is uncertain. */
  private user: User | null = null
  /** Receipt of the last erasure. */
  private erased: { id: string; receipt: string } | null = null
  private rotation: { request: Keyed; answer: string | null } | null = null
  private erasing = false
  private users = 0

  constructor(
    private readonly name: string,
    private readonly tenant: CrowdTenant,
    private readonly kind: 'users' | 'rotation',
    private readonly image: string,
    private readonly random: Random,
    private readonly findings: Findings,
    /** Codes that the fault excuses. */
    private readonly excused: ReadonlySet<string>,
  ) {}

  /** Number of users that must be in the database when nothing is uncertain. */
  get liveUsers(): number {
    return this.user ? 1 : 0
  }

  /** Sends calls until `stop` aborts or the server is gone. */
  async work(base: string, stop?: AbortSignal): Promise<void> {
    try {
      while (!stop?.aborted) await (this.kind === 'rotation' ? this.rotate(base) : this.stepUser(base))
    } catch (error) {
      // fetch rejects with a TypeError when the connection fails or ends without an answer.
      if (!(error instanceof TypeError)) throw error
      if ((error.cause as NodeJS.ErrnoException | undefined)?.code !== 'ECONNREFUSED')
        this.findings.unanswered++
    }
  }

  /** After a restart: repeats calls without an answer, and checks everything acknowledged. */
  async resolveUncertain(base: string): Promise<void> {
    if (this.rotation) await this.replay(base, this.rotation)
    if (this.user && this.erasing) await this.erase(base)
    else if (this.user)
      await this.replay(base, { request: this.user.enrolment, answer: this.user.answer }, this.user)
    if (this.erased) await this.checkErased(base)
  }

  private async stepUser(base: string): Promise<void> {
    if (!this.user) return this.enrol(base)
    const { id, enrolment, answer } = this.user
    if (answer === null) return this.replay(base, { request: enrolment, answer }, this.user)
    const choice = this.random()
    if (this.erasing || choice < 0.35) return this.erase(base)
    if (choice < 0.8) return this.replay(base, { request: enrolment, answer })
    const response = await this.verify(base, id)
    if (!(await this.expect(response, 200, `verify of ${this.user.id}`))) return
    this.acknowledge('verify', response)
  }

  private async enrol(base: string): Promise<void> {
    const id = `${this.name}-${++this.users}`
    const body = { user_id: id, image: this.image }
    this.user = {
      id,
      enrolment: { event: 'enroll', path: '/v1/enroll', body, key: randomUUID() },
      answer: null,
    }
    await this.replay(base, { request: this.user.enrolment, answer: null }, this.user)
  }

  private async rotate(base: string): Promise<void> {
    if (this.rotation && (this.rotation.answer === null || this.random() < 0.5))
      return this.replay(base, this.rotation)
    const request: Keyed = {
      event: 'rotate_signing',
      path: '/v1/keys/rotate-signing',
      body: { force: true },
      key: randomUUID(),
    }
    this.rotation = { request, answer: null }
    await this.replay(base, this.rotation)
  }

  /**
   * Sends a request with an idempotency key, for the first time or again: it must be executed exactly once and always get the same answer.
   */
  private async replay(
    base: string,
    known: { request: Keyed; answer: string | null },
    owner: { answer: string | null } = known,
  ): Promise<void> {
    const { event, path, body, key } = known.request
    const headers = { 'X-Svc-Idempotency-Key': key }
    const response = await this.call(base, 'POST', path, body, headers)
    const what = `${event} ${key} of ${this.name}`
    const isReplay = response.headers.get('x-svc-idempotent-replay') === 'true'
    if (known.answer !== null) {
      if (await this.isExcused(response)) return
      if (!isReplay)
        (response.status < 300 ? this.findings.executedTwice : this.findings.lost).push(
          `${what}: ${response.status} instead of a replay`,
        )
      else if (
        event === 'rotate_signing'
          ? response.body?.code !== 'secret_already_told'
          : response.text !== known.answer
      )
        this.findings.broken.push(`${what}: the replay differs`)
      return
    }
    if (isReplay && response.body?.code === 'secret_already_told') {
      // The rotation was executed and its answer was lost with the process. The secret is not revealed again, so the caller makes another.
      this.findings.recovered.push({ tenantId: this.tenant.id, event })
      this.rotation = null
      return this.rotate(base)
    }
    if (!(await this.expect(response, event === 'enroll' ? 201 : 200, what))) return
    owner.answer = response.text
    if (event === 'rotate_signing') this.learnSecret(response)
    if (isReplay) this.findings.recovered.push({ tenantId: this.tenant.id, event })
    else this.acknowledge(event, response)
  }

  private async erase(base: string): Promise<void> {
    const { id } = this.user!
    this.erasing = true
    const response = await this.call(base, 'DELETE', '/v1/delete', { user_id: id })
    if (!(await this.expect(response, 200, `erasure of ${id}`))) return
    this.acknowledge('delete', response)
    this.erased = { id, receipt: response.body.erasure_id }
    this.user = null
    this.erasing = false
  }

  private async checkErased(base: string): Promise<void> {
    const { id, receipt } = this.erased!
    const again = await this.call(base, 'DELETE', '/v1/delete', { user_id: id })
    if (again.body?.erasure_id !== receipt) this.findings.lost.push(`erasure of ${id}: ${again.text}`)
    const verify = await this.verify(base, id)
    if (verify.body?.code !== 'reference_not_found')
      this.findings.lost.push(`erasure of ${id}: verify answers ${verify.status}`)
  }

  private verify(base: string, id: string): Promise<ApiResponse> {
    return this.call(base, 'POST', '/v1/verify', { user_id: id, image: this.image, action: 'transfer' })
  }

  private async call(
    base: string,
    method: string,
    path: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const response = await apiClient(`${base}/v1`, this.tenant.key).call(method, path, body, { headers })
    this.findings.answered.add(response.headers.get('x-request-id')!)
    if (validSignatures(response, this.tenant.secrets).length === 0)
      this.findings.broken.push(`${method} ${path}: ${response.status} without a valid signature`)
    return response
  }

  /** Counts a refusal that the fault excuses and that says when to retry; nothing is acknowledged by it. */
  private async isExcused({ status, body, headers }: ApiResponse): Promise<boolean> {
    if (status !== 503 || !this.excused.has(body?.code)) return false
    const isComplete =
      body.request_id === headers.get('x-request-id') && Number(headers.get('retry-after')) > 0
    if (!isComplete) this.findings.broken.push(`${body.code} without request id or Retry-After`)
    this.findings.refused[body.code] = (this.findings.refused[body.code] ?? 0) + 1
    await sleep(REFUSED_PAUSE_MS)
    return true
  }

  private learnSecret({ body }: ApiResponse): void {
    const { id, secret } = body.signing_secret
    this.tenant.secrets[id] = secret
  }

  private async expect(response: ApiResponse, status: number, what: string): Promise<boolean> {
    if (response.status === status) return true
    if (await this.isExcused(response)) return false
    this.findings.broken.push(`${what}: ${response.status} ${response.text}`)
    return false
  }

  private acknowledge(event: string, response: ApiResponse): void {
    this.findings.acknowledged++
    this.findings.executed.push({
      tenantId: this.tenant.id,
      event,
      requestId: response.headers.get('x-request-id')!,
    })
  }
}
