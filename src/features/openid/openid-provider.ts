/**
 * The OpenID provider for step-up, by `oidc-provider`: a relying party asks who the person in front of the browser is, and gets an ID
 * token about one fresh verdict. There are no passwords, accounts or sessions: every request ends in a verdict of its own.
 */
import { createHmac } from 'node:crypto'
import Provider, { type Configuration, interactionPolicy, type KoaContextWithOIDC } from 'oidc-provider'
import type { Environment } from '../../config/config.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { ACTION_TYPES, authorizationDetailsTypes } from './authorization-details.js'
import type { OpenIdClient, OpenIdClients } from './openid-clients.js'
import type { OpenIdJwk } from './openid-keys.js'
import { SignedRequests } from './signed-requests.js'
import { StateAdapter, type StateAdapterParts } from './state-adapter.js'

export interface OpenIdProviderParts extends StateAdapterParts {
  keys: Pick<ServiceKeys, 'secrets' | 'lookup'>
  clients: OpenIdClients
}

/** Facts about a verdict between the person's return and the ID token. */
export interface VerdictFacts {
  /** The verdict as a JWT that anyone can check. */
  verdict: string
}

/** Seconds. A person has as long as a session of the capture page; a relying party redeems a code at once. */
const TTL = {
  PushedAuthorizationRequest: 60,
  Interaction: 900,
  Session: 60,
  Grant: 120,
  AuthorizationCode: 60,
  AccessToken: 60,
  IdToken: 300,
}
/** `acr` values in the metadata. Others that a policy knows are taken as well. */
const ACR_VALUES = [
  'urn:countersign:acr:face-active',
  'urn:countersign:acr:face-active-pad',
  'urn:countersign:acr:face-active-hwk',
  'urn:countersign:acr:face-active-swk',
]
const { Check, Prompt } = interactionPolicy

/** @param issuer URL of the issuer, without a slash at its end */
export function createOpenIdProvider(
  parts: OpenIdProviderParts,
  environment: Environment,
  issuer: string,
  jwks: OpenIdJwk[],
): Provider {
  const signedRequests = new SignedRequests(parts, environment)
  const provider = new Provider(issuer, {
    adapter: (kind: string) =>
      kind === 'Client'
        ? clientAdapter(parts, environment)
        : new StateAdapter(parts, `${environment} ${kind}`),
    jwks: { keys: jwks as never },
    cookies: {
      keys: [cookieKey(parts.keys, environment)],
      short: { secure: isSecure(issuer) },
      long: { secure: isSecure(issuer) },
    },
    acrValues: ACR_VALUES,
    claims: { openid: ['sub', 'acr', 'amr', 'auth_time', 'verdict'], profile: ['preferred_username'] },
    scopes: ['openid', 'profile'],
    // The ID token has the claims of every scope: not every application asks the userinfo endpoint.
    conformIdTokenClaims: false,
    subjectTypes: ['public'],
    responseTypes: ['code'],
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt'],
    clientDefaults: { grant_types: ['authorization_code'], response_types: ['code'] },
    // A request that the application has signed is as safe from exchange as a pushed one with PKCE: its `nonce` binds the ID token.
    pkce: {
      required: (_ctx: unknown, client: { requireSignedRequestObject?: boolean }) =>
        !client.requireSignedRequestObject,
    },
    ttl: TTL,
    features: {
      devInteractions: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      claimsParameter: { enabled: true },
      requestObjects: {
        enabled: true,
        assertJwtClaimsAndHeader: (
          _ctx: unknown,
          claims: Record<string, unknown>,
          _header: unknown,
          client: { requireSignedRequestObject?: boolean },
        ) => client.requireSignedRequestObject && signedRequests.assertFresh(claims),
      },
      pushedAuthorizationRequests: { enabled: true },
      richAuthorizationRequests: {
        enabled: true,
        types: authorizationDetailsTypes(),
        authorizationDetailsForGrantSource: () => undefined,
        authorizationDetailsForAccessToken: () => undefined,
        authorizationDetailsForIntrospection: () => undefined,
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => issuer,
        getResourceServerInfo: () => ({ scope: '', accessTokenFormat: 'opaque' }),
      },
    },
    interactions: {
      url: async ({ query, oidc }: KoaContextWithOIDC, { uid }: { uid: string }) => {
        if (oidc.route === 'authorization' && typeof query.request === 'string')
          await signedRequests.use(query.request, uid)
        return `${issuer}/interaction/${uid}`
      },
      policy: freshVerdictPolicy(),
    },
    findAccount: async (ctx: KoaContextWithOIDC, accountId: string, token?: { grantId?: string }) => {
      if (await isErased(parts, environment, ctx, accountId)) return undefined
      const claims = async () => ({
        sub: accountId,
        preferred_username: accountId,
        ...(await factsOf(parts, environment, token?.grantId)),
      })
      return { accountId, claims }
    },
    loadExistingGrant: (ctx: KoaContextWithOIDC) => grantOnce(parts, environment, ctx),
    renderError: (ctx: KoaContextWithOIDC, { error, error_description: text }: Record<string, unknown>) => {
      ctx.type = 'text/plain'
      ctx.body = `${error}: ${text ?? 'The request was refused.'}\n`
    },
  } as unknown as Configuration)
  // The listener has read the address already, and names the issuer's own.
  provider.proxy = true
  return provider
}

/** A login of an earlier request never counts: each request needs a verdict of its own. */
function freshVerdictPolicy(): InstanceType<typeof Prompt>[] {
  const check = new Check(
    'fresh_verdict',
    'Each request needs a verdict of its own.',
    'login_required',
    (ctx: KoaContextWithOIDC) => (ctx.oidc.result?.login ? Check.NO_NEED_TO_PROMPT : Check.REQUEST_PROMPT),
  )
  return [new Prompt({ name: 'login', requestable: true }, check)]
}

/** Whether an erasure was committed while the person came back. Every state of the user from before it went with it. */
async function isErased(
  { clients, vault, store, clock }: OpenIdProviderParts,
  environment: Environment,
  ctx: KoaContextWithOIDC,
  accountId: string,
): Promise<boolean> {
  const client = await clients.find(store.read, ctx.oidc.client!.clientId)
  if (!client) return true
  const blindIndex = vault.blindIndex(client.record.tenantId, environment, accountId)
  const [user, receipt] = await Promise.all([
    store.read.subjectWithoutReference(blindIndex),
    store.read.erasure(blindIndex, clock.now()),
  ])
  return user === undefined && receipt !== undefined
}

/** There is no consent screen: the relying party named the person, and learns nothing else. */
async function grantOnce(parts: OpenIdProviderParts, environment: Environment, ctx: KoaContextWithOIDC) {
  const { provider, client, session, result } = ctx.oidc
  const grant = new provider.Grant({ clientId: client!.clientId, accountId: session!.accountId! })
  grant.addOIDCScope('openid profile')
  // The types of the library do not know the lifetime.
  const id = await (grant as unknown as { save(seconds: number): Promise<string> }).save(TTL.Grant)
  const facts = (result as { facts?: VerdictFacts } | undefined)?.facts
  if (facts) {
    const { clientId, accountId } = grant
    const kept = { ...facts, grantId: id, clientId, accountId }
    await factsAdapter(parts, environment).upsert(id, kept, TTL.Grant)
  }
  return grant
}

async function factsOf(
  parts: OpenIdProviderParts,
  environment: Environment,
  grantId: string | undefined,
): Promise<Partial<VerdictFacts>> {
  const facts = grantId && (await factsAdapter(parts, environment).find(grantId))
  return facts ? { verdict: (facts as unknown as VerdictFacts).verdict } : {}
}

function factsAdapter(parts: OpenIdProviderParts, environment: Environment): StateAdapter {
  return new StateAdapter(parts, `${environment} VerdictFacts`)
}

/** Reads applications as the provider knows them. */
function clientAdapter({ clients, store }: OpenIdProviderParts, environment: Environment) {
  return {
    async find(id: string) {
      const client = await clients.find(store.read, id)
      if (client?.record.environment !== environment) return undefined
      // Keycloak asks by its authentication channel only, and Entra ID at an issuer of its own.
      return client.keycloak || client.entra ? undefined : clientMetadata(client)
    },
  }
}

/** Okta pushes no requests, but signs them with the client secret (RFC 9101): the library drops every parameter that is not signed. */
const SIGNED = { require_signed_request_object: true, request_object_signing_alg: 'HS256' }

/** Metadata by RFC 7591. A hint of the person counts only where the application itself has sent it, so every request is pushed. */
function clientMetadata({ record, name, redirectUris, secret, jwks, profile }: OpenIdClient) {
  return {
    client_id: record.id,
    client_name: name,
    redirect_uris: redirectUris,
    ...(profile === 'okta' ? SIGNED : { require_pushed_authorization_requests: true }),
    id_token_signed_response_alg: 'RS256',
    authorization_details_types: ACTION_TYPES,
    ...(jwks
      ? { token_endpoint_auth_method: 'private_key_jwt', jwks }
      : { token_endpoint_auth_method: 'client_secret_basic', client_secret: secret }),
  }
}

function cookieKey({ lookup }: Pick<ServiceKeys, 'lookup'>, environment: Environment): string {
  return createHmac('sha256', lookup).update(`openid cookies ${environment}`).digest('base64url')
}

function isSecure(issuer: string): boolean {
  return issuer.startsWith('https:')
}
