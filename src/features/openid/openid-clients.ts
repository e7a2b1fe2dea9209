/** Applications of a tenant that may ask the OpenID provider for a verdict: their addresses, how they prove themselves, what they ask for. */
import { randomBytes } from 'node:crypto'
import type { Operations } from '../../admin/operations.js'
import type { Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
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
import { assertKeycloakRealm, type KeycloakRealm, realmView } from './keycloak/keycloak-realm.js'
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

/** Actor of refusals: the request need not come from the application that it names. */
const PROVIDER: Actor = { name: 'openid', requestId: null }

interface OpenIdClientParts {
  operations: Pick<Operations, 'audited'>
  tenancy: Pick<Tenancy, 'createKey' | 'revokeNamedKey'>
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
}

export class OpenIdClients {
  private readonly audited: AuditedUnitOfWork

  constructor(private readonly parts: OpenIdClientParts) {
    this.audited = parts.operations.audited
  }

  /**
   * Makes an application, with an API key that only the provider uses. Its secret is returned only here.
   * @throws OpenIdClientError; TenancyError production_key_not_issued, too_many_keys
   */
  add(
    tenant: TenantRecord,
    actor: Actor,
    environment: Environment,
    asked: NewOpenIdClient,
  ): Promise<OpenIdClient> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const client = await this.insert(tx, tenant, environment, asked)
      return { result: client, facts: { event: 'openid_client_added', ...factsOf(client) } }
    })
  }

  private async insert(
    tx: StoreTransaction,
    tenant: TenantRecord,
    environment: Environment,
    asked: NewOpenIdClient,
  ): Promise<OpenIdClient> {
    const { keys, tenancy, clock } = this.parts
    assertSettings(asked)
    const others = (await this.of(tx, tenant.id)).filter(({ record }) => record.environment === environment)
    if (others.some(({ name }) => name === asked.name))
      throw new OpenIdClientError('client_exists', `There is an application named ${asked.name} already.`)
    const { keycloak } = asked
    if (keycloak && others.some((other) => other.keycloak?.issuer === keycloak.issuer))
      throw new OpenIdClientError('realm_exists', `There is an application of ${keycloak.issuer} already.`)
    const { record: key } = await tenancy.createKey(tx, tenant, environment, {
      name: keyName(asked.name),
      scopes: ['verify'],
      networks: null,
      certificate: null,
    })
    const now = clock.now()
    const id = prefixedId('oic', now)
    const secret =
      asked.jwks || keycloak || asked.entra ? null : randomBytes(SECRET_BYTES).toString('base64url')
    const settings: OpenIdClientSettings = { ...asked, secret }
    const sealed = seal(keys.secrets.current, Buffer.from(JSON.stringify(settings)), id)
    const record = { id, tenantId: tenant.id, environment, keyId: key.id, sealed, createdAt: now }
    await tx.statements(openIdClientWriter).put(record)
    return { ...settings, record }
  }

  /** Removes an application: its requests are refused from now on. @throws OpenIdClientError client_not_found */
  remove(tenant: TenantRecord, actor: Actor, id: string): Promise<OpenIdClient> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const client = (await this.of(tx, tenant.id)).find(({ record }) => record.id === id)
      if (!client)
        throw new OpenIdClientError('client_not_found', `Tenant ${tenant.name} has no application ${id}.`)
      await tx.statements(openIdClientWriter).delete(tenant.id, id)
      await this.parts.tenancy.revokeNamedKey(tx, tenant, client.record.environment, keyName(client.name))
      return { result: client, facts: { event: 'openid_client_removed', ...factsOf(client) } }
    })
  }

  /** Records that the provider refused a request of the application. @param facts with the code of the refusal */
  refused({ record }: OpenIdClient, facts: { code: string; [fact: string]: unknown }): Promise<void> {
    // A key of its own, because the entry follows from nothing else of the tenant.
    const options = { serializationKey: record.id }
    const refusal = { event: 'openid_refused', client: record.id, ...facts } as const
    return this.audited.record(record.tenantId, PROVIDER, refusal, options)
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
    const settings = JSON.parse(openWithAny(this.parts.keys.secrets, record.sealed, record.id).toString())
    return { ...(settings as OpenIdClientSettings), record }
  }
}

function keyName(client: string): string {
  return `openid.${client}`
}

/** @throws OpenIdClientError */
function assertSettings(asked: NewOpenIdClient): void {
  const { name, redirectUris, acr, jwks, profile, helpUrl, handOver, keycloak, entra } = asked
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

/** An application in the audit log. */
function factsOf(client: OpenIdClient) {
  const { record, name, redirectUris, acr, profile, helpUrl, keycloak, entra } = client
  return {
    client: record.id,
    environment: record.environment,
    name,
    redirect_uris: redirectUris,
    acr,
    proves_itself_by: provesItselfBy(client),
    ...(entra ? { entra_tenant: entra.tenantId, entra_application: entra.appId } : {}),
    ...(profile === undefined ? {} : { profile }),
    ...(helpUrl === undefined ? {} : { help_url: helpUrl }),
    ...(keycloak ? realmView(keycloak) : {}),
  }
}

function provesItselfBy({ jwks, keycloak, entra }: OpenIdClient): string {
  if (keycloak) return 'token_of_the_realm'
  if (entra) return 'signed_hint'
  return jwks ? 'private_key_jwt' : 'client_secret'
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
