/** The routes for a tenant's applications at the OpenID provider. */

import type { OpenIdClient } from '../../features/openid/openid-clients.js'
import { OpenIdOperations } from '../../features/openid/openid-operations.js'
import { isoTime } from '../../lib/clock.js'
import * as bodies from '../bodies.js'
import type { OpenIdClientView } from '../contract.js'
import type { DashboardServices } from '../dashboard-services.js'
import { asSecret, type TenantTable } from './route.js'

export const OPENID_CLIENT_ROUTES = {
  'GET /openid-clients': {
    async answer({ services, tenant }) {
      const { clients: known } = operationsOf(services)
      const clients = await known.of(services.core.store.read, tenant.id)
      return { clients: clients.map(clientView), has_production: tenant.productionIssuedAt !== null }
    },
  },

  'POST /openid-clients': {
    status: 201,
    givesSecret: true,
    body: bodies.newOpenIdClient,
    async answer({ services, tenant, actor, input }) {
      const { environment, name, redirect_uris: redirectUris, acr, profile, help_url: helpUrl } = input
      const made = await operationsOf(services).add(tenant, actor, environment, {
        name,
        redirectUris,
        acr,
        jwks: null,
        profile: profile === 'generic' ? undefined : profile,
        helpUrl: helpUrl ?? undefined,
      })
      return { client: clientView(made), client_secret: asSecret(made.secret!) }
    },
  },

  'POST /openid-clients/remove': {
    body: bodies.openIdClientChoice,
    async answer({ services, tenant, actor, input: { client } }) {
      await operationsOf(services).remove(tenant, actor, client)
      return { removed: client }
    },
  },
} satisfies Partial<TenantTable>

const operationsOf = ({ core, clock }: DashboardServices) => new OpenIdOperations({ ...core, clock })

function clientView(client: OpenIdClient): OpenIdClientView {
  const { record, name, redirectUris, acr, profile, helpUrl, keycloak, entra, secret } = client
  return {
    client_id: record.id,
    environment: record.environment,
    name,
    profile: entra ? 'entra' : keycloak ? 'keycloak' : (profile ?? 'generic'),
    redirect_uris: redirectUris,
    acr,
    help_url: helpUrl ?? null,
    has_secret: secret !== null,
    created_at: isoTime(record.createdAt),
  }
}
