/** Step-up on a route, without a framework: the refusal that a request gets, or the verdict that lets it through. */
import { actionHash } from '../../src/contract/action-hash.js'
import { FACE_ACR } from './acr.js'
import { VerdictError, type VerdictErrorCode } from './errors.js'
import type { Action, ActionLike, ApprovedClaims } from './types.js'
import type { VerdictVerifier } from './verdict.js'

type MaybePromise<T> = T | Promise<T>

/** Options of `stepUp` and `createStepUp`. `Request` is the framework's own type. */
export interface StepUpOptions<Request, A extends ActionLike = Action> {
  /** A `Countersign` with its `tenantId`, or your own verifier. */
  verifier: VerdictVerifier
  /** The signed-in user by the application's own session. A request without one gets a 401. */
  user(request: Request): MaybePromise<string | null | undefined>
  /** The action of this request with everything that matters in it: amount, payee, target. */
  action(request: Request): MaybePromise<A>
  /** The nonce that the verdict must echo. */
  nonce?(request: Request): MaybePromise<string>
  /** Header in which the caller sends the JWT; default `X-Step-Up-Verdict`. */
  header?: string
  /** Accepted `acr` values; default: any approval, photos included. Where money moves, ask for `ACTIVE_ACR`: approvals with active liveness. */
  acr?: readonly string[]
  /** Greatest age of the check itself, in seconds; default: as long as the verdict is valid. */
  maxAgeSeconds?: number
  /** Whether an approval is accepted whose photo was seen before within 24 hours; default false. */
  acceptReplays?: boolean
  /** Signal that aborts when the request's client goes away: the check then stops, and the verdict stays unused. */
  signal?(request: Request): AbortSignal | undefined
}

/** The body of a refusal: everything that a page needs to have this very action countersigned. */
export interface StepUpBody {
  error: 'unauthenticated' | 'insufficient_user_authentication'
  message: string
  /** Why the verdict of the request is refused; absent when the request had none. */
  code?: VerdictErrorCode
  /** Reason of the rejection; only with the code `not_approved`. */
  reason?: string
  /** The action to have countersigned; absent where asking for the face again would end in the same way (`not_yet_valid`). */
  challenge?: { action: ActionLike; action_hash: string; nonce?: string; header: string }
}

/** The decision about a request: its verdict, or the answer that refuses it. */
export type StepUpOutcome<A extends ActionLike = Action> =
  | { allowed: true; verdict: ApprovedClaims<A> }
  | { allowed: false; status: 401 | 403; headers: Record<string, string>; body: StepUpBody }

/**
 * Codes where asking for the face again cannot help: the person is another one, the verdict is another user's, the installation
 * serves with a model pack of evaluation grade, or this machine's clock is behind by more than the tolerance.
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
 * Makes the check of one route. The check takes the framework's request and a function that reads its headers.
 * @throws TypeError for `acr` values that no header can hold. The check throws what the callbacks and the replay store throw: a
 *   failure is never taken for an approval.
 * @example
 * const check = createStepUp<Request>({ verifier: countersign, user: signedInUser, action: transferOf })
 * const outcome = await check(request, (name) => request.headers.get(name))
 * if (!outcome.allowed) return Response.json(outcome.body, { status: outcome.status, headers: outcome.headers })
 */
export function createStepUp<Request, A extends ActionLike = Action>(
  options: StepUpOptions<Request, A>,
): (request: Request, header: (name: string) => string | null | undefined) => Promise<StepUpOutcome<A>> {
  const { verifier, acr, maxAgeSeconds, acceptReplays, header: headerName = DEFAULT_HEADER } = options
  const challengeHeader = wwwAuthenticate(acr ?? FACE_ACR, maxAgeSeconds)

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
      // Without a challenge in the answer: a page that steps up wherever it is challenged would never stop.
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

/** The challenge of RFC 9470, section 3. */
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
