/**
 * Checks the token with which Keycloak asks its authentication channel. `HttpAuthenticationChannelProvider` of Keycloak signs it with the
 * key of the realm, as it signs access tokens, so that the realm's published keys tell it from any other.
 */
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { type Clock, MINUTE_MS, SECOND_MS } from '../../../lib/clock.js'
import { RefusedRequest } from '../refusals.js'
import type { KeycloakRealm } from './keycloak-realm.js'

/** One request for authentication, as the realm signed it. */
export interface RealmRequest {
  /** Id of the result that Keycloak waits for. */
  id: string
  /** Id of the person in the realm. */
  subject: string
  /** Client of the realm that asks for the person. */
  client: string
  /** Milliseconds since the Unix epoch. After that, Keycloak takes no result. */
  expiresAt: number
}

/** Algorithms of the realm that anyone can check. Nobody but the realm could check an HMAC. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA']
/** Keycloak gives up after 2 minutes by default, and after 10 at most. */
const MAX_LIFETIME_MS = 60 * MINUTE_MS
/** Keycloak waits for our answer meanwhile. */
const KEYS_TIMEOUT_MS = 3 * SECOND_MS

/** Codes with which the library says that it could not read the keys. */
const UNREADABLE = ['ERR_JOSE_GENERIC', 'ERR_JWKS_INVALID', 'ERR_JWKS_TIMEOUT']

type KeySet = ReturnType<typeof createRemoteJWKSet>

/** @returns the issuer that a token names, which is not checked yet; null for a text that is no token */
export function issuerNamedBy(token: string): string | null {
  try {
    return decodeJwt(token).iss ?? null
  } catch {
    return null
  }
}

export class RealmTokens {
  private readonly keySets = new Map<string, KeySet>()

  constructor(private readonly clock: Clock) {}

  /** @throws RefusedRequest token_not_valid where the realm did not make the token, for this channel, now; realm_unreachable */
  async check(token: string, { issuer, url }: KeycloakRealm): Promise<RealmRequest> {
    const claims = await this.verified(token, issuer, this.keysAt(url))
    const { jti, sub, azp, typ, iat, exp } = claims
    if (typ !== 'Bearer') refuse('the token is no bearer token')
    // Keycloak's requests have neither; an access token of a person, whom anyone may have signed in, has both.
    if ('sid' in claims || 'scope' in claims) refuse('the token is the access token of a person')
    if (!isText(jti) || !isText(sub) || !isText(azp) || iat === undefined || exp === undefined)
      return refuse('the token lacks jti, sub, azp, iat or exp')
    if ((exp - iat) * SECOND_MS > MAX_LIFETIME_MS) refuse('the token is valid for more than an hour')
    return { id: jti, subject: sub, client: azp, expiresAt: exp * SECOND_MS }
  }

  private async verified(token: string, issuer: string, keys: KeySet): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, keys, {
        issuer,
        audience: issuer,
        algorithms: ALGORITHMS,
        currentDate: new Date(this.clock.now()),
      })
      return payload
    } catch (cause) {
      if (!(cause instanceof errors.JOSEError) || UNREADABLE.includes(cause.code))
        throw new RefusedRequest('realm_unreachable', 'the keys of the realm could not be read', { cause })
      return refuse(reasonOf(cause))
    }
  }

  private keysAt(url: string): KeySet {
    let keys = this.keySets.get(url)
    if (!keys) {
      keys = createRemoteJWKSet(new URL(`${url}/protocol/openid-connect/certs`), {
        timeoutDuration: KEYS_TIMEOUT_MS,
      })
      this.keySets.set(url, keys)
    }
    return keys
  }
}

function reasonOf(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the token has expired'
  if (error instanceof errors.JWTClaimValidationFailed) return `the token has another ${error.claim}`
  if (error instanceof errors.JOSEAlgNotAllowed) return 'the token is not signed by a public key'
  return 'the token is not signed by the realm'
}

function refuse(why: string): never {
  throw new RefusedRequest('token_not_valid', why)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}
