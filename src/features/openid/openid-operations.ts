/** Operations on the applications of the OpenID provider. */
import type { Core } from '../../admin/core.js'
import type { Operations } from '../../admin/operations.js'
import type { Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { Clock } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import { realmView } from './keycloak/keycloak-realm.js'
import { type NewOpenIdClient, type OpenIdClient, OpenIdClients } from './openid-clients.js'

interface OpenIdOperationParts extends Pick<Core, 'tenancy'> {
  operations: Pick<Operations, 'audited'>
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
}

export class OpenIdOperations {
  readonly clients: OpenIdClients
  private readonly audited: AuditedUnitOfWork

  constructor({ operations, keys, tenancy, clock }: OpenIdOperationParts) {
    this.clients = new OpenIdClients(keys, tenancy, clock)
    this.audited = operations.audited
  }

  /** Makes an application. Its secret is returned only here. @throws OpenIdClientError; TenancyError */
  add(
    tenant: TenantRecord,
    actor: Actor,
    environment: Environment,
    asked: NewOpenIdClient,
  ): Promise<OpenIdClient> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const client = await this.clients.add(tx, tenant, environment, asked)
      return { result: client, facts: { event: 'openid_client_added', ...factsOf(client) } }
    })
  }

  /** Removes an application: its requests are refused from now on. @throws OpenIdClientError client_not_found */
  remove(tenant: TenantRecord, actor: Actor, id: string): Promise<OpenIdClient> {
    return this.audited.run(tenant.id, actor, async (tx) => {
      const client = await this.clients.remove(tx, tenant, id)
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
}

/** Actor of refusals: the request need not come from the application that it names. */
const PROVIDER: Actor = { name: 'openid', requestId: null }

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
