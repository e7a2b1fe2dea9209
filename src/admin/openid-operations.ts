/** Operations on the applications of the OpenID provider. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import type { TenantRecord } from '../storage/records.js'
import type { NewOpenIdClient, OpenIdClient, OpenIdClients } from '../tenants/openid-clients.js'

export class OpenIdOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    readonly clients: OpenIdClients,
  ) {}

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
}

function factsOf({ record, name, redirectUris, acr, jwks }: OpenIdClient) {
  return {
    client: record.id,
    environment: record.environment,
    name,
    redirect_uris: redirectUris,
    acr,
    proves_itself_by: jwks ? 'private_key_jwt' : 'client_secret',
  }
}
