/** Model of idempotency keys by the specification, with the simplest users and rotations that it needs. It shares no code with the service. */

export const WINDOW_MS = 24 * 60 * 60 * 1000
const OVERLAP_MS = 30 * 60 * 1000

export type Environment = 'production' | 'sandbox'

export type Operation =
  | { path: '/v1/enroll'; user: string; replace: boolean }
  | { path: '/v1/verify'; user: string }
  | { path: '/v1/keys/rotate-signing'; force: boolean }

export interface Request {
  tenant: number
  environment: Environment
  operation: Operation
  /** Form of the body: as expected, with other white space, not JSON, or with another content type. */
  form: 'plain' | 'spaced' | 'broken' | 'mistyped'
  /** Value of the header `X-Svc-Idempotency-Key`. */
  key: string
}

interface Kept {
  payload: string
  status: number
  text: string
  expiresAt: number
  /** User with whose erasure the kept response is erased. */
  user: string | null
}

export type Expected =
  | { kind: 'replay'; status: number; text: string }
  /** Whether a rotation was done, whose secret no replay returns. */
  | { kind: 'rotated_before' }
  | { kind: 'refusal'; status: number; code: string }
  | { kind: 'execution'; status: number; code: string | null; isKept: boolean }

/** Statuses that are kept: "4xx from execution; never 401, 403, 413, 415, 429 or 5xx". A 400 is answered before anything is executed. */
const isKept = (status: number) => ![400, 401, 403, 413, 415, 429].includes(status) && status < 500

export class IdempotencyModel {
  private now = 0
  private readonly kept = new Map<string, Kept>()
  private readonly users = new Set<string>()
  /** End of the time in which an erasure is answered with its receipt again. */
  private readonly receipts = new Map<string, number>()
  private readonly overlapUntil = new Map<number, number>()

  advance(ms: number): void {
    this.now += ms
  }

  expects(request: Request): Expected {
    // Checked before a kept response is looked up, so that no replay returns what the key may not have.
    if (request.operation.path === '/v1/keys/rotate-signing' && request.environment === 'sandbox')
      return { kind: 'execution', status: 403, code: 'production_key_required', isKept: false }
    const kept = this.kept.get(scopeOf(request))
    if (kept && kept.expiresAt > this.now) {
      if (kept.payload === payloadOf(request))
        return kept.status === 200 && request.operation.path === '/v1/keys/rotate-signing'
          ? { kind: 'rotated_before' }
          : { kind: 'replay', status: kept.status, text: kept.text }
      return { kind: 'refusal', status: 422, code: 'idempotency_key_reused' }
    }
    const [status, code] = this.outcome(request)
    return { kind: 'execution', status, code, isKept: isKept(status) }
  }

  /** Notes that the request was executed, its effect and what was kept. */
  executed(request: Request, status: number, text: string): void {
    const { operation, tenant } = request
    const user = 'user' in operation ? this.user(request, operation.user) : null
    if (isKept(status))
      this.kept.set(scopeOf(request), {
        payload: payloadOf(request),
        status,
        text,
        expiresAt: this.now + WINDOW_MS,
        user,
      })
    if (status === 201) this.users.add(user!)
    if (status === 200 && operation.path === '/v1/keys/rotate-signing')
      this.overlapUntil.set(tenant, this.now + OVERLAP_MS)
  }

  /** Erases a user with the kept responses. @returns the status of DELETE */
  erase(place: Pick<Request, 'tenant' | 'environment'>, name: string): number {
    const user = this.user(place, name)
    if (!this.users.delete(user)) return (this.receipts.get(user) ?? 0) > this.now ? 200 : 404
    for (const [scope, kept] of this.kept) if (kept.user === user) this.kept.delete(scope)
    this.receipts.set(user, this.now + WINDOW_MS)
    return 200
  }

  private outcome(request: Request): [status: number, code: string | null] {
    const { operation, environment, form, tenant } = request
    if (form === 'mistyped') return [415, 'unsupported_media_type']
    if (form === 'broken') return [400, 'malformed_json']
    if (operation.path === '/v1/keys/rotate-signing') {
      const isOverlap = (this.overlapUntil.get(tenant) ?? 0) > this.now
      return isOverlap && !operation.force ? [409, 'rotation_in_progress'] : [200, null]
    }
    const isEnrolled = this.users.has(this.user(request, operation.user))
    if (operation.path === '/v1/enroll' && isEnrolled && !operation.replace) return [409, 'already_enrolled']
    const scripted = environment === 'sandbox' ? /\+(\w+)$/.exec(operation.user)?.[1] : undefined
    if (scripted === 'rate_limited') return [429, 'rate_limited']
    if (scripted === 'unavailable') return [503, 'overloaded']
    if (operation.path === '/v1/verify' && !isEnrolled && !scripted) return [404, 'reference_not_found']
    if (scripted === 'no_face') return [422, 'face_not_found']
    return [operation.path === '/v1/enroll' ? 201 : 200, null]
  }

  private user({ tenant, environment }: Pick<Request, 'tenant' | 'environment'>, name: string): string {
    return `${tenant} ${environment} ${name}`
  }
}

/** Scope of a key: tenant, environment, method and path. */
function scopeOf({ tenant, environment, operation, key }: Request): string {
  return `${tenant} ${environment} ${operation.path} ${key}`
}

/** Everything that the raw body depends on. The content type is not part of it. */
function payloadOf({ operation, form }: Request): string {
  return JSON.stringify([operation, form === 'mistyped' ? 'plain' : form])
}
