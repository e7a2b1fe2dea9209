/** Checks whether a verdict JWT allows this user this action, now and once. */
import { errors, type JWTVerifyOptions, jwtVerify } from 'jose'
import { actionHash } from '../../src/contract/action-hash.js'
import { typedActionType } from '../../src/contract/actions/typed-actions.js'
import type { CaptureSession } from './capture-session.js'
import {
  clockTolerance,
  expiredText,
  MAX_CLOCK_TOLERANCE_SECONDS,
  notYetValidText,
} from './clock-tolerance.js'
import { VerdictError, type VerdictErrorCode } from './errors.js'
import { jwksUrlOf, publishedKeys } from './public-keys.js'
import { DefaultReplayStore, type ReplayStore } from './replay-store.js'
import { readSecrets, type SigningSecretSource } from './signing-secret.js'
import { TOKEN_TYPE } from './token-type.js'
import type {
  Action,
  ActionLike,
  ApprovedClaims,
  CaptureBinding,
  Environment,
  VerdictClaims,
} from './types.js'
import { findSigned, type VerdictTokens } from './verdict-token.js'

/** Facts that the verdict must confirm. */
export interface VerdictExpectations<A extends ActionLike = Action> {
  /** The signed-in user, by your own session: never take it from the JWT itself. */
  userId: string
  /** The action that is about to run, by your own data: never take it from the JWT itself. */
  action: A
  /** The nonce that the verdict must echo; default: any. */
  nonce?: string | undefined
  /**
   * Id of the capture session that this person was sent to, as you kept it: only its verdict is accepted. It replaces `nonce`. For a typed
   * action the verdict must also name the text that the person was shown.
   */
  captureSessionId?: string | undefined
  /**
   * `same`, the default with `captureSessionId`: the session gave its result only to the browser that captured. `any` also takes a session
   * with `browser: 'any'`, whose link may have been passed on.
   */
  captureBinding?: CaptureBinding | undefined
  /** Accepted authentication contexts, such as `ACTIVE_ACR`; default: those of any approval. */
  acr?: readonly string[] | undefined
  /** Greatest age of the check itself in seconds, beyond the tolerance of the clocks; default: as long as the JWT is valid. */
  maxAgeSeconds?: number | undefined
  /** Whether an approval is accepted whose photo was seen before within 24 hours (`replay.suspected`); default false. */
  acceptReplays?: boolean | undefined
  /** Aborts the check and leaves the verdict unused. The replay store gets the signal too. */
  signal?: AbortSignal | undefined
}

/** The service whose verdicts are accepted, and how strictly. */
export interface VerdictTrust {
  /** The signing secrets with their ids; during a rotation both. Without them, `jwt_public` is checked with the issuer's published keys. */
  signingSecret?: SigningSecretSource | undefined
  /** Address of the issuer's keys; default: `.well-known/jwks.json` below `issuer`. It takes the place of `signingSecret`. */
  jwksUrl?: string | undefined
  /** Fetches the keys; default: the global `fetch`. */
  fetch?: typeof fetch | undefined
  /** Id of the tenant (`ten_…`), the `aud` of its verdicts; default: that of the signing secret. Required without a secret. */
  audience?: string | undefined
  /** Base URL of the environment, the `iss` of its verdicts; default: not checked. */
  issuer?: string | undefined
  /** Environment of the verdict; default `production`, so that a verdict of the sandbox never passes by omission. */
  environment?: Environment | undefined
  /**
   * Whether a production verdict of a model pack that is not of production grade (`model_grade`) is accepted; default false. The error rates
   * of such a pack were not measured on enough people (`evaluation`) or in no group of people (`ungrouped`). For demos, and where those who
   * answer for the service have signed that off. In the sandbox, where verdicts are scripted, the grade does not matter.
   */
  acceptEvaluationGrade?: boolean | undefined
  /** Store of used verdicts; default: the memory of this process. Several processes must share a store. */
  replayStore?: ReplayStore | undefined
  /**
   * Greatest difference between this machine's clock and the service's, for the times of a verdict (`nbf`, `iat`, `exp`) and for
   * `maxAgeSeconds`; 0 to 300, default 60. A verdict can be used for as long after its expiry.
   */
  clockToleranceSeconds?: number | undefined
  /** The clock, in unix seconds; default: the system's. */
  now?: (() => number) | undefined
}

/** Checks a verdict against expectations. `Countersign` is one. */
export interface VerdictVerifier {
  verifyVerdict<A extends ActionLike>(
    jwt: string | VerdictTokens,
    expected: VerdictExpectations<A>,
  ): Promise<ApprovedClaims<A>>
}

/** A verdict JWT, an answer of `verify`, or a capture session as `getCaptureSession` answers it. */
export type VerdictSource = string | VerdictTokens | CaptureSession

/** Claims without which a token is no verdict. */
export const REQUIRED_CLAIMS = [
  'iss',
  'aud',
  'sub',
  'iat',
  'exp',
  'jti',
  'env',
  'verdict',
  'action_hash',
  'acr',
  'auth_time',
]

/** The store of all calls without their own. A new store for each call would remember nothing. */
const sharedStore = new DefaultReplayStore()

/**
 * Checks a verdict without a client, and marks it as used. A check that fails leaves the verdict unused. Of an answer of `verify`, the
 * token that a configured secret made is checked; without a secret, its `jwt_public`.
 * @returns the claims of the approval
 * @throws VerdictError such as not_approved, expired, wrong_user, wrong_action, already_used
 * @throws TypeError for options that cannot work
 * @example
 * const claims = await verifyVerdict(jwt, { signingSecret, audience: 'ten_…', userId: signedInUser, action })
 * @example
 * // Without a secret: the address of the service is enough.
 * const issuer = 'https://countersign.example.com/v1'
 * const claims = await verifyVerdict(jwtPublic, { issuer, audience: 'ten_…', userId: signedInUser, action })
 */
export async function verifyVerdict<A extends ActionLike>(
  source: VerdictSource,
  {
    userId,
    action,
    nonce,
    captureSessionId,
    captureBinding = captureSessionId === undefined ? 'any' : 'same',
    acr,
    maxAgeSeconds,
    acceptReplays,
    signal,
    ...trust
  }: VerdictExpectations<A> & VerdictTrust,
): Promise<ApprovedClaims<A>> {
  signal?.throwIfAborted()
  // A tenant's secret signs for that tenant only.
  // An empty text is a setting that was forgotten, and not one that was left out.
  if (trust.audience === '' || (trust.audience === undefined && trust.signingSecret === undefined))
    throw new TypeError('audience is required, except with a signing secret: the tenant’s id, ten_…')
  const now = trust.now?.() ?? Date.now() / 1000
  const tolerance = clockTolerance(trust.clockToleranceSeconds)
  if (nonce !== undefined && captureSessionId !== undefined)
    throw new TypeError(
      'nonce or captureSessionId: give one of them; the hosted page sends no nonce of yours',
    )
  const jwt = isCaptureSession(source) ? tokensOf(source, captureSessionId) : source
  const claims = await readClaims<A>(jwt, trust, now, tolerance)
  const must = (holds: boolean, code: VerdictErrorCode, message: string) => {
    if (!holds) throw new VerdictError(code, message, claims.reason)
  }
  const environment = trust.environment ?? 'production'
  must(
    claims.env === environment,
    'wrong_environment',
    `The verdict's env is ${claims.env}; ${environment} is expected.`,
  )
  must(claims.sub === userId, 'wrong_user', 'The verdict is about another user.')
  must(
    claims.action_hash === (await actionHash(action)),
    'wrong_action',
    'The verdict is for another action.',
  )
  must(nonce === undefined || claims.nonce === nonce, 'wrong_nonce', 'The verdict has another nonce.')
  must(
    captureSessionId === undefined || claims.capture_session === captureSessionId,
    'wrong_capture_session',
    'The verdict is not of the capture session that this person was sent to.',
  )
  if (claims.verdict !== 'approved')
    throw new VerdictError('not_approved', `The verdict is a rejection: ${claims.reason}.`, claims.reason)
  must(
    captureBinding === 'any' || claims.capture_binding === captureBinding,
    'wrong_capture_binding',
    'The capture session gives its result to any browser.',
  )
  must(
    captureSessionId === undefined || typedActionType(action) === null || claims.display_hash !== undefined,
    'not_displayed',
    'The verdict does not name the text that the person was shown for this action.',
  )
  must(
    !acr || acr.includes(claims.acr),
    'wrong_context',
    `The verdict's acr is ${claims.acr}; accepted are ${acr?.join(', ')}.`,
  )
  must(
    maxAgeSeconds === undefined || now - claims.auth_time <= maxAgeSeconds + tolerance,
    'too_old',
    `The check was made ${Math.round(now - claims.auth_time)} s ago; ${maxAgeSeconds} s are allowed.`,
  )
  must(
    environment !== 'production' ||
      trust.acceptEvaluationGrade === true ||
      claims.model_grade === 'production',
    'evaluation_grade',
    `The verdict's model_grade is ${claims.model_grade}, and production is expected: serve with a model pack of production grade, or set acceptEvaluationGrade: true, for a demo or where that was signed off.`,
  )
  must(
    acceptReplays === true || claims.replay?.suspected === false,
    'replay_suspected',
    'The photo was seen before within 24 hours.',
  )
  signal?.throwIfAborted()
  const store = trust.replayStore ?? sharedStore
  // Backends that share a store may differ in tolerance and clock: the verdict is remembered until none of them can accept it.
  must(
    await store.consume(claims.jti, claims.exp + MAX_CLOCK_TOLERANCE_SECONDS, signal),
    'already_used',
    'The verdict was used before.',
  )
  return claims
}

function isCaptureSession(source: VerdictSource): source is CaptureSession {
  return typeof source === 'object' && 'session_id' in source
}

/** @throws TypeError without an expected id @throws VerdictError wrong_capture_session, proof_required, no_verdict */
function tokensOf(
  { session_id, status, result, result_withheld }: CaptureSession,
  expected: string | undefined,
): VerdictTokens {
  if (expected === undefined)
    throw new TypeError(
      'captureSessionId is required with a capture session: the id that you kept for this person, not one from an address',
    )
  if (session_id !== expected)
    throw new VerdictError(
      'wrong_capture_session',
      'This is another capture session than the one that this person was sent to.',
    )
  if (result_withheld)
    throw new VerdictError(
      'proof_required',
      'The capture session gives its result only with the proof of the browser that captured.',
    )
  if (result?.status === 200) return result.body
  const why =
    result === null ? 'no capture was judged' : result.status === 201 ? 'it enrolled' : result.body.code
  throw new VerdictError('no_verdict', `The capture session has no verdict: it is ${status}, and ${why}.`)
}

/** Checks signature, type, times, audience and issuer, by jose. */
async function readClaims<A extends ActionLike>(
  tokens: string | VerdictTokens,
  trust: VerdictTrust,
  now: number,
  clockTolerance: number,
): Promise<VerdictClaims<A>> {
  const { audience, issuer } = trust
  const rules = {
    typ: TOKEN_TYPE,
    ...(audience ? { audience } : {}),
    requiredClaims: REQUIRED_CLAIMS,
    clockTolerance,
    currentDate: new Date(now * 1000),
    ...(issuer === undefined ? {} : { issuer }),
  }
  const check = trust.signingSecret === undefined ? publicCheck(trust) : secretCheck(trust.signingSecret)
  try {
    const { payload } = await check(tokens, rules)
    const claims = payload as unknown as VerdictClaims<A>
    // jose checks `iat` only where it is given a greatest age.
    if (claims.iat > now + clockTolerance)
      throw new VerdictError('not_yet_valid', notYetValidText(claims.iat, now, clockTolerance))
    return claims
  } catch (error) {
    throw toVerdictError(error, { aud: audience, iss: issuer }, { now, tolerance: clockTolerance })
  }
}

/** A check of a token's signature, with the one algorithm that its kind of key is for. */
type TokenCheck = (
  tokens: string | VerdictTokens,
  rules: JWTVerifyOptions,
) => Promise<Awaited<ReturnType<typeof jwtVerify>>>

function secretCheck(signingSecret: SigningSecretSource): TokenCheck {
  return async (tokens, rules) => {
    const signed = await findSigned(tokens, await readSecrets(signingSecret))
    if (!signed) throw new VerdictError('signature_invalid', 'No configured secret made this verdict.')
    return jwtVerify(signed.jwt, signed.key, { ...rules, algorithms: ['HS256'] })
  }
}

/** @throws TypeError where the trust names neither keys nor an issuer */
function publicCheck({ jwksUrl, issuer, fetch }: VerdictTrust): TokenCheck {
  if (jwksUrl === undefined && issuer === undefined)
    throw new TypeError(
      'signingSecret, jwksUrl or issuer is required: the secret of `jwt`, or the address of the keys of `jwt_public`',
    )
  const keys = publishedKeys(jwksUrl ?? jwksUrlOf(issuer!), fetch)
  return async (tokens, rules) => {
    const token = typeof tokens === 'string' ? tokens : tokens.jwt_public
    if (token === undefined)
      throw new VerdictError('malformed', 'The answer has no public verdict (jwt_public).')
    return jwtVerify(token, keys, { ...rules, algorithms: ['ES256'] })
  }
}

const BY_CLAIM: Record<string, VerdictErrorCode> = {
  aud: 'wrong_audience',
  iss: 'wrong_issuer',
  nbf: 'not_yet_valid',
}

function toVerdictError(
  error: unknown,
  expected: { aud: string | undefined; iss: string | undefined },
  { now, tolerance }: { now: number; tolerance: number },
): unknown {
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return new VerdictError('signature_invalid', 'The key that the verdict names did not sign it.')
  if (error instanceof errors.JWTExpired)
    return new VerdictError('expired', expiredText(Number(error.payload.exp), now, tolerance))
  if (error instanceof errors.JWTClaimValidationFailed)
    return new VerdictError(
      error.reason === 'check_failed' ? (BY_CLAIM[error.claim] ?? 'malformed') : 'malformed',
      error.claim === 'aud' || error.claim === 'iss'
        ? `The verdict's ${error.claim} is ${JSON.stringify(error.payload[error.claim])}; ${expected[error.claim]} is expected.`
        : error.claim === 'nbf' && error.reason === 'check_failed'
          ? notYetValidText(Number(error.payload.nbf), now, tolerance)
          : error.message,
    )
  return error instanceof errors.JOSEError ? new VerdictError('malformed', error.message) : error
}
