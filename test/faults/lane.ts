/** One caller of the campaign: does one thing after another, and remembers what was acknowledged and what is uncertain. */
import { randomUUID } from 'node:crypto'
import { type ApiResponse, apiClient } from '../support/client.js'

/** Uniform in [0, 1). */
export type Random = () => number

/** What the whole campaign has seen, and what it has found wrong. */
export interface Findings {
  acknowledged: number
  /** Request ids of first executions, by tenant and audit event. */
  executed: Array<{ tenantId: string; event: string; requestId: string }>
  /** Executions known from a replay alone: the answer to the first request died with the process. */
  recovered: Array<{ tenantId: string; event: string }>
  lost: string[]
  executedTwice: string[]
  broken: string[]
}

interface Keyed {
  event: 'enroll' | 'rotate_signing'
  path: string
  body: unknown
  key: string
}

interface User {
  id: string
  enrolment: Keyed
  /** What enrolment answered; null while uncertain. */
  answer: string | null
}

export class Lane {
  /** Enrolled here and not erased; one after the other, so that at most one effect of a lane is ever uncertain. */
  private user: User | null = null
  /** Receipt of the last erasure. */
  private erased: { id: string; receipt: string } | null = null
  private rotation: { request: Keyed; answer: string | null } | null = null
  private erasing = false
  private users = 0

  constructor(
    private readonly name: string,
    private readonly tenant: { id: string; key: string },
    private readonly kind: 'users' | 'rotation',
    private readonly image: string,
    private readonly random: Random,
    private readonly findings: Findings,
  ) {}

  /** Users that must stand in the database when nothing is uncertain. */
  get liveUsers(): number {
    return this.user ? 1 : 0
  }

  /** Works until the server is gone. */
  async work(base: string): Promise<void> {
    try {
      for (;;) await (this.kind === 'rotation' ? this.rotate(base) : this.stepUser(base))
    } catch (error) {
      // fetch rejects with a TypeError when the connection ends without an answer.
      if (!(error instanceof TypeError)) throw error
    }
  }

  /** After a restart: what is uncertain is asked for again, what was acknowledged must still be so. */
  async settle(base: string): Promise<void> {
    if (this.rotation) await this.replay(base, this.rotation)
    if (this.user && this.erasing) await this.erase(base)
    else if (this.user)
      await this.replay(base, { request: this.user.enrolment, answer: this.user.answer }, this.user)
    if (this.erased) await this.checkErased(base)
  }

  private async stepUser(base: string): Promise<void> {
    if (!this.user) return this.enrol(base)
    const choice = this.random()
    if (choice < 0.35) return this.erase(base)
    if (choice < 0.8)
      return void (await this.replay(base, { request: this.user.enrolment, answer: this.user.answer }))
    const response = await this.client(base).verify({
      user_id: this.user.id,
      image: this.image,
      action: 'transfer',
    })
    if (!this.expect(response, 200, `verify of ${this.user.id}`)) return
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
    if (this.rotation?.answer && this.random() < 0.5) return this.replay(base, this.rotation)
    const request: Keyed = {
      event: 'rotate_signing',
      path: '/v1/keys/rotate-signing',
      body: { force: true },
      key: randomUUID(),
    }
    this.rotation = { request, answer: null }
    await this.replay(base, this.rotation)
  }

  /** Sends a keyed request, for the first time or again: it must run exactly once and always answer the same. */
  private async replay(
    base: string,
    known: { request: Keyed; answer: string | null },
    owner: { answer: string | null } = known,
  ): Promise<void> {
    const { event, path, body, key } = known.request
    const headers = { 'X-Svc-Idempotency-Key': key }
    const response = await this.client(base).call('POST', path, body, { headers })
    const what = `${event} ${key} of ${this.name}`
    const isReplay = response.headers.get('x-svc-idempotent-replay') === 'true'
    if (known.answer !== null) {
      if (!isReplay)
        (response.status < 300 ? this.findings.executedTwice : this.findings.lost).push(
          `${what}: ${response.status} instead of a replay`,
        )
      else if (response.text !== known.answer) this.findings.broken.push(`${what}: the replay differs`)
      return
    }
    if (!this.expect(response, event === 'enroll' ? 201 : 200, what)) return
    owner.answer = response.text
    if (isReplay) this.findings.recovered.push({ tenantId: this.tenant.id, event })
    else this.acknowledge(event, response)
  }

  private async erase(base: string): Promise<void> {
    const { id } = this.user!
    this.erasing = true
    const response = await this.client(base).erase(id)
    if (!this.expect(response, 200, `erasure of ${id}`)) return
    this.acknowledge('delete', response)
    this.erased = { id, receipt: response.body.erasure_id }
    this.user = null
    this.erasing = false
  }

  private async checkErased(base: string): Promise<void> {
    const { id, receipt } = this.erased!
    const client = this.client(base)
    const again = await client.erase(id)
    if (again.body?.erasure_id !== receipt) this.findings.lost.push(`erasure of ${id}: ${again.text}`)
    const verify = await client.verify({ user_id: id, image: this.image, action: 'transfer' })
    if (verify.body?.code !== 'reference_not_found')
      this.findings.lost.push(`erasure of ${id}: verify answers ${verify.status}`)
  }

  private expect(response: ApiResponse, status: number, what: string): boolean {
    if (response.status === status) return true
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

  private client(base: string) {
    return apiClient(`${base}/v1`, this.tenant.key)
  }
}
