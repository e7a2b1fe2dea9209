/** A caller who enrolls and verifies without a break while the installation changes its model pack, and notes every answer that is not due. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiResponse, apiClient } from '../support/client.js'

/** Photos of one person, and one of another. */
export interface Photos {
  enrolled: string
  stranger: string
}

export interface PackFindings {
  enrolled: number
  approved: number
  rejected: number
  /** Calls that ended with their service. */
  cut: number
  /** Models that approved, by id. */
  models: Map<string, number>
  problems: string[]
}

interface Enrolment {
  userId: string
  idempotencyKey: string
}

/** Every fourth call is an enrollment, until the caller has enough users; every fifth other one is a stranger's. */
const ENROLS_EVERY = 4
const STRANGER_EVERY = 5
const PAUSE_MS = 20

export class PackCaller {
  /** Users whose enrollment was acknowledged. */
  readonly users: string[] = []
  private pending: Enrolment | null = null
  private calls = 0
  private turn = 0

  constructor(
    private readonly name: string,
    private readonly key: string,
    private readonly photos: Photos,
    private readonly findings: PackFindings,
  ) {}

  /**
   * Calls until `isOver`, or until the service is gone.
   * @param capture photo of the next verify @param mostUsers with so many users, the caller enrolls no more
   */
  async work(
    base: string,
    capture: () => string,
    mostUsers: () => number,
    isOver: () => boolean,
  ): Promise<void> {
    const api = apiClient(`${base}/v1`, this.key)
    try {
      while (!isOver()) await this.step(api, capture(), mostUsers())
    } catch (error) {
      // fetch rejects with a TypeError when the connection fails or ends without an answer.
      if (!(error instanceof TypeError)) throw error
      this.findings.cut++
    }
  }

  /** Verifies each user once. */
  async verifyAll(base: string, capture: string): Promise<void> {
    const api = apiClient(`${base}/v1`, this.key)
    if (this.pending) await this.enrol(api)
    for (const userId of this.users) await this.verify(api, userId, capture)
  }

  private async step(api: ReturnType<typeof apiClient>, capture: string, mostUsers: number): Promise<void> {
    const isEnrolling = this.users.length < mostUsers && this.calls++ % ENROLS_EVERY === 0
    if (this.pending || isEnrolling) return this.enrol(api)
    // The caller has no user yet, and its turn to enroll comes.
    if (this.users.length === 0) return sleep(PAUSE_MS)
    const userId = this.users[this.turn++ % this.users.length]!
    if (this.turn % STRANGER_EVERY !== 0) return this.verify(api, userId, capture)
    const answer = await api.verify({ user_id: userId, image: this.photos.stranger, action: 'pay' })
    if (answer.body?.verdict === 'rejected' && answer.body.reason === 'no_match') this.findings.rejected++
    else this.report('a stranger', userId, answer)
    await this.verify(api, userId, capture)
  }

  /** Enrolls a new user, or asks again with the same idempotency key about the one whose answer was lost. */
  private async enrol(api: ReturnType<typeof apiClient>): Promise<void> {
    this.pending ??= { userId: `${this.name}-${this.users.length}`, idempotencyKey: randomUUID() }
    const { userId, idempotencyKey } = this.pending
    const headers = { 'X-Svc-Idempotency-Key': idempotencyKey }
    const answer = await api.enroll({ user_id: userId, image: this.photos.enrolled }, { headers })
    // The first call ended with its service, whose claim on the key lasts until its lease has ended.
    const retryAfter = Number(answer.headers.get('retry-after'))
    if (answer.body?.code === 'idempotency_in_progress' && retryAfter > 0) {
      await sleep(retryAfter * 1000)
      return this.enrol(api)
    }
    this.pending = null
    if (answer.status !== 201) return this.report('the enrollment', userId, answer)
    this.users.push(userId)
    this.findings.enrolled++
  }

  private async verify(api: ReturnType<typeof apiClient>, userId: string, capture: string): Promise<void> {
    const answer = await api.verify({ user_id: userId, image: capture, action: 'pay' })
    if (answer.body?.verdict !== 'approved') return this.report('a verify', userId, answer)
    const { models } = this.findings
    models.set(answer.body.model, (models.get(answer.body.model) ?? 0) + 1)
    this.findings.approved++
  }

  private report(what: string, userId: string, { status, body }: ApiResponse): void {
    const { code, verdict, reason, score, model } = body ?? {}
    this.findings.problems.push(
      `${what} of ${userId} was answered ${JSON.stringify({ status, code, verdict, reason, score, model })}`,
    )
  }
}
