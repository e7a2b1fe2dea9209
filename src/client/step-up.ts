/** Step-up on a route, without a framework: which answer a request gets, or the verdict that lets it through. */
import { ACR_VALUES } from './acr.js'
import { actionHash } from './canonical-json.js'
import { VerdictError, type VerdictErrorCode } from './errors.js'
import type { Action, ActionLike, ApprovedClaims } from './types.js'
import type { VerdictVerifier } from './verdict.js'

type MaybePromise<T> = T | Promise<T>

/** `Request` is the framework's own. */
export interface StepUpOptions<Request, A extends ActionLike = Action> {
  /** A `Countersign` with its `tenantId`, or your own. */
  verifier: VerdictVerifier
  /** The user who is signed in, by the application's own session; none gets a 401. */
  user(request: Request): MaybePromise<string | null | undefined>
  /** What this request is about to do, by everything that matters in it: amount, payee, target. */
  action(request: Request): MaybePromise<A>
  /** The nonce that the verdict must echo. */
  nonce?(request: Request): MaybePromise<string>
  /** Where the caller puts the JWT; default `X-Step-Up-Verdict`. */
  header?: string
  /** Accepted `acr`; default: that of any approval, photos included. For money ask for `ACTIVE_ACR`: only approvals with active liveness. */
  acr?: readonly string[]
  /** Greatest age of the check itself, in seconds; default: as long as the verdict is valid. */
  maxAgeSeconds?: number
  /** Take an approval whose photo was seen before within 24 hours; default false. */
  acceptReplays?: boolean
  /** The signal of a request whose client may go away: the check is then given up, with the verdict unused. */
  signal?(request: Request): AbortSignal | undefined
}

/** The body of a refusal: enough to have this very action countersigned. */
export interface StepUpBody {
  error: 'unauthenticated' | 'insufficient_user_authentication'
  message: string
  /** Why the verdict that came does not do; absent when none came. */
  code?: VerdictErrorCode
  /** Of a rejection. */
  reason?: string
  /** Absent where asking for the face again would end in the same way (`not_yet_valid`). */
  challenge?: { action: ActionLike; action_hash: string; nonce?: string; header: string }
}

export type StepUpOutcome<A extends ActionLike = Action> =
  | { allowed: true; verdict: ApprovedClaims<A> }
  | { allowed: false; status: 401 | 403; headers: Record<string, string>; body: StepUpBody }

/**
 * Asking again cannot help: the person is not who was expected, somebody tries another user's verdict, the installation serves
 * with a model pack of evaluation grade, or the clock of this machine is behind by more than the tolerance.
 */
const FINAL_CODES: ReadonlySet<VerdictErrorCode> = new Set<VerdictErrorCode>([
  'not_approved',
  'wrong_user',
  'evaluation_grade',
  'not_yet_valid',
])
const DEFAULT_HEADER = 'X-Step-Up-Verdict'
/** A quoted-string (RFC 9110, section 5.6.4) without anything that had to be escaped. */
const QUOTABLE = /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/

/**
 * One function a route. It is given the framework's request and a way to read its headers. Failures of the callbacks and
 * of the replay store are thrown on, never taken for an approval.
 */
export function createStepUp<Request, A extends ActionLike = Action>(
  options: StepUpOptions<Request, A>,
): (request: Request, header: (name: string) => string | null | undefined) => Promise<StepUpOutcome<A>> {
  const { verifier, acr, maxAgeSeconds, acceptReplays, header: headerName = DEFAULT_HEADER } = options
  const challengeHeader = wwwAuthenticate(acr ?? ACR_VALUES, maxAgeSeconds)

  return async (request, header): Promise<StepUpOutcome<A>> => {
    const userId = await options.user(request)
    if (!userId)
      return {
        allowed: false,
        status: 401,
        headers: { 'WWW-Authenticate': 'Bearer' },
        body: { error: 'unauthenticated', message: 'Sign in first.' },
      }
    const action = await options.action(request)
    const nonce = await options.nonce?.(request)
    const refuse = async (status: 401 | 403, message: string, why: Partial<StepUpBody> = {}) => ({
      allowed: false as const,
      status,
      headers: { 'WWW-Authenticate': challengeHeader, 'Cache-Control': 'no-store' },
      body: {
        error: 'insufficient_user_authentication' as const,
        message,
        ...why,
        challenge: {
          action,
          action_hash: await actionHash(action),
          ...(nonce === undefined ? {} : { nonce }),
          header: headerName,
        },
      },
    })
    const jwt = header(headerName)
    if (!jwt) return refuse(401, 'This action must be countersigned.')
    try {
      const signal = options.signal?.(request)
      const expected = { userId, action, nonce, acr, maxAgeSeconds, acceptReplays, signal }
      const verdict = await verifier.verifyVerdict(jwt, expected)
      return { allowed: true, verdict }
    } catch (error) {
      if (!(error instanceof VerdictError)) throw error
      const { code, reason, message } = error
      // A page that steps up wherever it is challenged would do so for ever.
      if (code === 'not_yet_valid')
        return {
          allowed: false,
          status: 403,
          headers: { 'Cache-Control': 'no-store' },
          body: { error: 'insufficient_user_authentication', message, code },
        }
      return refuse(FINAL_CODES.has(code) ? 403 : 401, message, {
        code,
        ...(code === 'not_approved' && reason ? { reason } : {}),
      })
    }
  }
}

/** RFC 9470, section 3. */
function wwwAuthenticate(acr: readonly string[], maxAgeSeconds: number | undefined): string {
  const acrValues = acr.join(' ')
  if (!QUOTABLE.test(acrValues)) throw new TypeError('acr must be printable ASCII without quotes')
  return [
    'Bearer error="insufficient_user_authentication"',
    'error_description="This action must be countersigned."',
    `acr_values="${acrValues}"`,
    ...(maxAgeSeconds === undefined ? [] : [`max_age=${maxAgeSeconds}`]),
  ].join(', ')
}
