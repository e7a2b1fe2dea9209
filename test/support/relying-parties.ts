/** Relying parties of the OpenID provider by two foreign libraries, each of which checks every answer itself. */
import type { webcrypto } from 'node:crypto'
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose'
import * as oauth from 'oauth4webapi'
import * as openid from 'openid-client'

export interface Registration {
  issuer: string
  redirectUri: string
  clientId: string
  /** How the application proves itself at the provider. */
  proof: { secret: string; isPosted?: boolean } | { key: webcrypto.CryptoKey; kid: string }
}

export interface Redeemed {
  claims: JWTPayload & Record<string, unknown>
  accessToken: string
}

export interface SignInRequest {
  /** The address to which the application sends the browser. */
  url: string
  /** Names the request in the answer. */
  state: string
  /** @param back the address at which the browser came back */
  redeem(back: URL): Promise<Redeemed>
}

export interface RelyingParty {
  /** Pushes a request about this person. @param more further parameters; an empty one is left out */
  ask(loginHint: string, more?: Record<string, string>): Promise<SignInRequest>
}

export const RELYING_PARTIES = { 'openid-client': byOpenidClient, oauth4webapi: byOauth4webapi }

async function byOpenidClient(registration: Registration): Promise<RelyingParty> {
  const { issuer, redirectUri, clientId, proof } = registration
  const config = await openid.discovery(new URL(issuer), clientId, undefined, proofOf(proof, openid), {
    execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
  })
  return {
    async ask(loginHint, more = {}) {
      const secrets = await newSecrets()
      const parameters = parametersOf(redirectUri, loginHint, secrets, more)
      const url = await openid.buildAuthorizationUrlWithPAR(config, parameters)
      return {
        url: url.href,
        state: secrets.state,
        async redeem(back) {
          const tokens = await openid.authorizationCodeGrant(config, back, {
            pkceCodeVerifier: secrets.verifier,
            expectedState: secrets.state,
            ...(parameters.nonce === undefined ? {} : { expectedNonce: secrets.nonce }),
            idTokenExpected: true,
          })
          return { claims: tokens.claims()!, accessToken: tokens.access_token }
        },
      }
    },
  }
}

async function byOauth4webapi(registration: Registration): Promise<RelyingParty> {
  const { issuer, redirectUri, clientId, proof } = registration
  const insecure = { [oauth.allowInsecureRequests]: true }
  const found = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oidc', ...insecure })
  const server = await oauth.processDiscoveryResponse(new URL(issuer), found)
  const client: oauth.Client = { client_id: clientId }
  const proven = proofOf(proof, oauth)
  return {
    async ask(loginHint, more = {}) {
      const secrets = await newSecrets()
      const parameters = parametersOf(redirectUri, loginHint, secrets, more)
      const pushed = await oauth.pushedAuthorizationRequest(server, client, proven, parameters, insecure)
      const { request_uri: uri } = await oauth.processPushedAuthorizationResponse(server, client, pushed)
      const url = new URL(server.authorization_endpoint!)
      url.search = new URLSearchParams({ client_id: clientId, request_uri: uri }).toString()
      return {
        url: url.href,
        state: secrets.state,
        async redeem(back) {
          const answer = oauth.validateAuthResponse(server, client, back, secrets.state)
          const { verifier } = secrets
          const { authorizationCodeGrantRequest: redeem } = oauth
          const response = await redeem(server, client, proven, answer, redirectUri, verifier, insecure)
          const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, {
            ...(parameters.nonce === undefined ? {} : { expectedNonce: secrets.nonce }),
            requireIdToken: true,
          })
          await oauth.validateApplicationLevelSignature(server, response, insecure)
          return {
            claims: oauth.getValidatedIdTokenClaims(tokens)! as Redeemed['claims'],
            accessToken: tokens.access_token,
          }
        },
      }
    },
  }
}

/**
 * Checks the verdict inside an ID token with the keys of its issuer, as docs/guides/public-verdicts.md says.
 * @param issuer address of the API, which the application has in its settings
 */
export async function checkedVerdict(
  { claims }: Redeemed,
  issuer: string,
  tenantId: string,
  now: number,
): Promise<JWTPayload & Record<string, unknown>> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(claims.verdict as string, keys, {
    algorithms: ['ES256'],
    typ: 'stepup+jwt',
    issuer,
    audience: tenantId,
    currentDate: new Date(now),
    requiredClaims: ['exp', 'sub', 'jti', 'action_hash'],
  })
  return payload
}

interface Secrets {
  verifier: string
  challenge: string
  state: string
  nonce: string
}

async function newSecrets(): Promise<Secrets> {
  const verifier = oauth.generateRandomCodeVerifier()
  const challenge = await oauth.calculatePKCECodeChallenge(verifier)
  return { verifier, challenge, state: oauth.generateRandomState(), nonce: oauth.generateRandomNonce() }
}

function parametersOf(
  redirectUri: string,
  loginHint: string,
  { challenge, state, nonce }: Secrets,
  more: Record<string, string>,
): Record<string, string> {
  const all = {
    ...{ response_type: 'code', redirect_uri: redirectUri, scope: 'openid', login_hint: loginHint },
    ...{ state, nonce, code_challenge: challenge, code_challenge_method: 'S256' },
    ...more,
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ''))
}

function proofOf(
  proof: Registration['proof'],
  library: Pick<typeof oauth, 'ClientSecretBasic' | 'ClientSecretPost' | 'PrivateKeyJwt'>,
): oauth.ClientAuth {
  if ('key' in proof) return library.PrivateKeyJwt(proof)
  return proof.isPosted ? library.ClientSecretPost(proof.secret) : library.ClientSecretBasic(proof.secret)
}
