/** Checks a verdict JWT: does it allow this user this action, now, once? */
import { decodeProtectedHeader, errors, jwtVerify } from 'jose'
import { actionHash } from './canonical-json.js'
import { VerdictError, type VerdictErrorCode } from './errors.js'
import { MemoryReplayStore, type ReplayStore } from './replay-store.js'
import { candidates, readSecrets, type SigningSecretSource } from './signing-secret.js'
import type { Action, Environment, VerdictClaims } from './types.js'

/** What the verdict must be about. */
export interface VerdictExpectations {
  /** The user who is signed in. Never taken from the JWT itself. */
  userId: string
  /** The action that is about to run. Never taken from the JWT itself. */
  action: Action
  /** Required when given. */
  nonce?: string | undefined
  /** Accepted authentication contexts; default: any of an approval. */
  acr?: readonly string[] | undefined
  /** Greatest age of the check itself; default: as long as the JWT is valid. */
  maxAgeSeconds?: number | undefined
  /** Refuse an approval whose photo was seen before within 24 hours; default false. */
  refuseReplays?: boolean | undefined
}

/** Who must have made it. */
export interface VerdictTrust {
  /** During a rotation both secrets. */
  signingSecret: SigningSecretSource
  /** Tenant id (`ten_…`). */
  audience: string
  /** Base URL of the environment; checked when given. */
  issuer?: string | undefined
  /** Default `production`, so that a sandbox verdict never passes by omission. */
  environment?: Environment | undefined
  /** Where used verdicts are remembered; default: this process's memory. */
  replayStore?: ReplayStore | undefined
  /** Allowed difference of the clocks; default 5. */
  clockToleranceSeconds?: number | undefined
  /** Unix seconds; default: the system's clock. */
  now?: (() => number) | undefined
}

/** Checks a verdict against what is expected. `Countersign` is one. */
export interface VerdictVerifier {
  verifyVerdict(jwt: string, expected: VerdictExpectations): Promise<VerdictClaims>
}

const TOKEN_TYPE = 'stepup+jwt'
const REQUIRED_CLAIMS = [
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
const DEFAULT_CLOCK_TOLERANCE_SECONDS = 5

/** Shared by all calls without a store of their own: a store a call would remember nothing. */
const sharedStore = new MemoryReplayStore()

/**
 * Resolves with the claims of an approval that was not used before, and marks it as used. What fails leaves the verdict
 * unused.
 * @throws VerdictError
 */
export async function verifyVerdict(
  jwt: string,
  { userId, action, nonce, acr, maxAgeSeconds, refuseReplays, ...trust }: VerdictExpectations & VerdictTrust,
): Promise<VerdictClaims> {
  if (!trust.audience) throw new TypeError('audience (the tenant id) is required')
  const now = trust.now?.() ?? Date.now() / 1000
  const tolerance = trust.clockToleranceSeconds ?? DEFAULT_CLOCK_TOLERANCE_SECONDS
  const claims = await readClaims(jwt, trust, now, tolerance)
  const must = (holds: boolean, code: VerdictErrorCode, message: string) => {
    if (!holds) throw new VerdictError(code, message, claims.reason)
  }
  const environment = trust.environment ?? 'production'
  must(claims.env === environment, 'wrong_environment', `The verdict is of the ${claims.env}.`)
  must(claims.sub === userId, 'wrong_user', 'The verdict is about another user.')
  must(
    claims.action_hash === (await actionHash(action)),
    'wrong_action',
    'The verdict is for another action.',
  )
  must(nonce === undefined || claims.nonce === nonce, 'wrong_nonce', 'The verdict has another nonce.')
  must(claims.verdict === 'approved', 'not_approved', `The verdict is a rejection: ${claims.reason}.`)
  must(!acr || acr.includes(claims.acr), 'wrong_context', `The verdict's acr is ${claims.acr}.`)
  must(
    maxAgeSeconds === undefined || now - claims.auth_time <= maxAgeSeconds + tolerance,
    'too_old',
    `The check was made more than ${maxAgeSeconds} s ago.`,
  )
  must(!refuseReplays || claims.replay?.suspected === false, 'replay_suspected', 'The photo was seen before.')
  const store = trust.replayStore ?? sharedStore
  must(
    await store.consume(claims.jti, claims.exp + tolerance),
    'already_used',
    'The verdict was used before.',
  )
  return claims
}

/** Signature, type, times, audience and issuer, by jose. */
async function readClaims(
  jwt: string,
  { signingSecret, audience, issuer }: VerdictTrust,
  now: number,
  clockTolerance: number,
): Promise<VerdictClaims> {
  const secrets = candidates(await readSecrets(signingSecret), keyId(jwt))
  for (const { secret } of secrets)
    try {
      const { payload } = await jwtVerify(jwt, new TextEncoder().encode(secret), {
        algorithms: ['HS256'],
        typ: TOKEN_TYPE,
        audience,
        requiredClaims: REQUIRED_CLAIMS,
        clockTolerance,
        currentDate: new Date(now * 1000),
        ...(issuer === undefined ? {} : { issuer }),
      })
      return payload as unknown as VerdictClaims
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw toVerdictError(error)
    }
  throw new VerdictError('signature_invalid', 'No configured secret made this verdict.')
}

function keyId(jwt: string): string | undefined {
  try {
    return decodeProtectedHeader(jwt).kid
  } catch {
    throw new VerdictError('malformed', 'This is not a JWT.')
  }
}

const BY_CLAIM: Record<string, VerdictErrorCode> = {
  aud: 'wrong_audience',
  iss: 'wrong_issuer',
  nbf: 'not_yet_valid',
  iat: 'not_yet_valid',
}

function toVerdictError(error: unknown): unknown {
  if (error instanceof errors.JWTExpired) return new VerdictError('expired', 'The verdict has expired.')
  if (error instanceof errors.JWTClaimValidationFailed)
    return new VerdictError(
      error.reason === 'check_failed' ? (BY_CLAIM[error.claim] ?? 'malformed') : 'malformed',
      error.message,
    )
  return error instanceof errors.JOSEError ? new VerdictError('malformed', error.message) : error
}
