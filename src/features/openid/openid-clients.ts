/** Applications of a tenant that may ask the OpenID provider for a verdict: their addresses, how they prove themselves, what they ask for. */
import { randomBytes } from 'node:crypto'
import type { Environment } from '../../config/config.js'
import { checksOf } from '../../contract/acr.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { openWithAny, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { Clock } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import { safeOrigin } from '../../tenants/safe-origin.js'
import type { Tenancy } from '../../tenants/tenancy.js'
import { type EntraTenant, entraRedirectUri } from './entra/entra-tenant.js'
import { assertKeycloakRealm, type KeycloakRealm } from './keycloak/keycloak-realm.js'
import { type OpenIdClientRecord, openIdClientReader, openIdClientWriter } from './openid-tables.js'

interface OpenIdClientSettings {
  name: string
  /** Addresses to which the provider leads back, compared character by character. */
  redirectUris: string[]
  /** Least `acr` of an approval for this application. */
  acr: string
  /** The secret by which the application proves itself; null where it signs with a key of its own, or sends signed hints. */
  secret: string | null
  /** Public keys of the application, for `private_key_jwt`; null where it has a secret. */
  jwks: { keys: Record<string, unknown>[] } | null
  /** Preset of a product; undefined for any application that speaks OpenID Connect. */
  profile?: OpenIdProfile | undefined
  /** Address of help that a person sees who is not confirmed; undefined for none. */
  helpUrl?: string | undefined
  /** Whether a capture may be handed over to a phone, which then shows a number to type at the first device. Absent means `off`. */
  handOver?: HandOver | undefined
  /** The realm of Keycloak that asks by its authentication channel; absent for applications that ask by OpenID Connect. */
  keycloak?: KeycloakRealm
  /** The tenant of Entra ID that asks by signed hints; absent for applications that ask by code and PKCE. */
  entra?: EntraTenant | undefined
}

/** Products whose requests differ from the generic ones. `okta`: Okta's IdP authenticator. */
export const OPENID_PROFILES = ['okta'] as const
export type OpenIdProfile = (typeof OPENID_PROFILES)[number]

export const HAND_OVERS = ['off', 'number'] as const
export type HandOver = (typeof HAND_OVERS)[number]

export interface OpenIdClient extends OpenIdClientSettings {
  record: OpenIdClientRecord
}

export type NewOpenIdClient = Omit<OpenIdClientSettings, 'secret'>

/** HTTP status where the dashboard answers these errors, by code. */
export const OPENID_CLIENT_ERRORS = {
  invalid_redirect_uri: 400,
  invalid_acr: 400,
  invalid_name: 400,
  invalid_help_url: 400,
  invalid_hand_over: 400,
  secret_required: 400,
  client_exists: 409,
  client_not_found: 404,
  invalid_jwks: 400,
  realm_exists: 409,
}

export class OpenIdClientError extends CodedError<keyof typeof OPENID_CLIENT_ERRORS> {}

/** The `acr` that an application asks for where it names none: a challenge with both movements. */
export const DEFAULT_ACR = 'urn:countersign:acr:face-active'

const SECRET_BYTES = 32
const MAX_REDIRECT_URIS = 20
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/

export class OpenIdClients {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly tenancy: Pick<Tenancy, 'createKey' | 'revokeNamedKey'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes an application, with an API key that only the provider uses.
   * @throws OpenIdClientError; TenancyError production_key_not_issued, too_many_keys
   */
  async add(
    tx: StoreTransaction,
    tenant: TenantRecord,
    environment: Environment,
    asked: NewOpenIdClient,
  ): Promise<OpenIdClient> {
    assertSettings(asked)
    const others = await this.of(tx, tenant.id)
    if (others.some(({ name, record }) => name === asked.name && record.environment === environment))
      throw new OpenIdClientError('client_exists', `There is an application named ${asked.name} already.`)
    const { keycloak } = asked
    if (keycloak && others.some((other) => isSameRealm(other, keycloak, environment)))
      throw new OpenIdClientError('realm_exists', `There is an application of ${keycloak.issuer} already.`)
    const { record: key } = await this.tenancy.createKey(tx, tenant, environment, {
      name: keyName(asked.name),
      scopes: ['verify'],
      networks: null,
      certificate: null,
    })
    const now = this.clock.now()
    const id = prefixedId('oic', now)
    const secret =
      asked.jwks || keycloak || asked.entra ? null : randomBytes(SECRET_BYTES).toString('base64url')
    const settings: OpenIdClientSettings = { ...asked, secret }
    const sealed = seal(this.keys.secrets.current, Buffer.from(JSON.stringify(settings)), id)
    const record = { id, tenantId: tenant.id, environment, keyId: key.id, sealed, createdAt: now }
    await tx.statements(openIdClientWriter).put(record)
    return { ...settings, record }
  }

  /** @throws OpenIdClientError client_not_found */
  async remove(tx: StoreTransaction, tenant: TenantRecord, id: string): Promise<OpenIdClient> {
    const client = (await this.of(tx, tenant.id)).find(({ record }) => record.id === id)
    if (!client)
      throw new OpenIdClientError('client_not_found', `Tenant ${tenant.name} has no application ${id}.`)
    await tx.statements(openIdClientWriter).delete(tenant.id, id)
    await this.tenancy.revokeNamedKey(tx, tenant, client.record.environment, keyName(client.name))
    return client
  }

  async of(store: StoreReader, tenantId: string): Promise<OpenIdClient[]> {
    return (await store.statements(openIdClientReader).ofTenant(tenantId)).map((record) =>
      this.opened(record),
    )
  }

  /** @returns null for an id that is no application's */
  async find(store: StoreReader, id: string): Promise<OpenIdClient | null> {
    const record = await store.statements(openIdClientReader).byId(id)
    return record ? this.opened(record) : null
  }

  private opened(record: OpenIdClientRecord): OpenIdClient {
    const settings = JSON.parse(openWithAny(this.keys.secrets, record.sealed, record.id).toString())
    return { ...(settings as OpenIdClientSettings), record }
  }
}

function keyName(client: string): string {
  return `openid.${client}`
}

/** @throws OpenIdClientError */
function assertSettings({
  name,
  redirectUris,
  acr,
  jwks,
  profile,
  helpUrl,
  handOver,
  keycloak,
  entra,
}: NewOpenIdClient): void {
  if (!NAME.test(name))
    throw new OpenIdClientError(
      'invalid_name',
      `"${name}" is no name of an application: use 1 to 48 letters, digits, dots, dashes or underscores.`,
    )
  if (keycloak) assertKeycloakRealm(keycloak)
  if (keycloak && redirectUris.length > 0)
    throw new OpenIdClientError('invalid_redirect_uri', 'A realm of Keycloak has no redirect addresses.')
  if ((!keycloak && redirectUris.length === 0) || redirectUris.length > MAX_REDIRECT_URIS)
    throw new OpenIdClientError(
      'invalid_redirect_uri',
      `An application needs 1 to ${MAX_REDIRECT_URIS} redirect addresses (--redirect-uri).`,
    )
  const unsafe = redirectUris.find((uri) => safeOrigin(uri) === null || uri.includes('#'))
  if (unsafe !== undefined)
    throw new OpenIdClientError(
      'invalid_redirect_uri',
      `${unsafe} is no https address without fragment, user name and password (http only for localhost).`,
    )
  if (entra && (redirectUris.length > 1 || redirectUris[0] !== entraRedirectUri(entra)))
    throw new OpenIdClientError(
      'invalid_redirect_uri',
      `Entra ID has one redirect address: ${entraRedirectUri(entra)}.`,
    )
  if (entra && helpUrl !== undefined)
    throw new OpenIdClientError(
      'invalid_help_url',
      'Entra ID shows a page of its own to a person who is not confirmed.',
    )
  if ((entra || keycloak) && handOver === 'number')
    throw new OpenIdClientError(
      'invalid_hand_over',
      'A sign-in of Entra ID stays on one device, and a link of Keycloak leads nobody back.',
    )
  if (checksOf(acr) === null)
    throw new OpenIdClientError('invalid_acr', `${acr} is no acr of an approval, such as ${DEFAULT_ACR}.`)
  if (helpUrl !== undefined && safeOrigin(helpUrl) === null)
    throw new OpenIdClientError(
      'invalid_help_url',
      `${helpUrl} is no https address without user name and password.`,
    )
  if (profile === 'okta' && jwks)
    throw new OpenIdClientError(
      'secret_required',
      'Okta signs its requests with the client secret, so the application needs a secret instead of keys.',
    )
  if (jwks && (!Array.isArray(jwks.keys) || jwks.keys.some((key) => 'd' in key || key.kty === 'oct')))
    throw new OpenIdClientError('invalid_jwks', 'The key set must hold public keys only.')
}

function isSameRealm(
  { keycloak, record }: OpenIdClient,
  { issuer }: KeycloakRealm,
  environment: Environment,
) {
  return keycloak?.issuer === issuer && record.environment === environment
}

/** An application as the command and the dashboard show it, without its secret. */
export function clientView(client: OpenIdClient) {
  const { record, name, profile, helpUrl, keycloak, entra } = client
  return {
    client_id: record.id,
    name,
    profile: entra ? 'entra' : keycloak ? 'keycloak' : (profile ?? 'generic'),
    environment: record.environment,
    ...wire(client, 'redirectUris', 'acr'),
    help_url: helpUrl ?? null,
    ...wire(record, 'createdAt'),
  }
}
