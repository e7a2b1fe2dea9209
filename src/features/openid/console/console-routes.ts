/** The routes for a tenant's applications at the OpenID provider. */
import Type from 'typebox'
import { nullable, words } from '../../../api/schemas.js'
import { environment, text } from '../../../dashboard/lib/bodies.js'
import { asSecret, consoleRoute } from '../../../dashboard/lib/route.js'
import type { FeatureHost } from '../../feature.js'
import { clientView, type OpenIdClient, type OpenIdClients } from '../openid-clients.js'

export function openIdClientRoutes({ store }: FeatureHost, applications: OpenIdClients) {
  return {
    'GET /openid-clients': consoleRoute({
      right: 'read',
      async answer({ tenant }) {
        const clients = await applications.of(store.read, tenant.id)
        return {
          clients: clients.map(shownClient),
          /** Whether production has a key, without which it has no applications. */
          has_production: tenant.productionIssuedAt !== null,
        }
      },
    }),

    'POST /openid-clients': consoleRoute({
      right: 'write',
      status: 201,
      givesSecret: true,
      body: {
        environment,
        name: text(64),
        profile: words(['generic', 'okta']),
        redirect_uris: Type.Array(text(2048), { minItems: 1, maxItems: 20 }),
        acr: text(128),
        help_url: nullable(text(2048)),
      },
      async answer({ tenant, actor, input }) {
        const { environment, name, redirect_uris: redirectUris, acr, profile, help_url: helpUrl } = input
        const made = await applications.add(tenant, actor, environment, {
          name,
          redirectUris,
          acr,
          jwks: null,
          profile: profile === 'generic' ? undefined : profile,
          helpUrl: helpUrl ?? undefined,
        })
        return {
          client: shownClient(made),
          /** Shown only once. */
          client_secret: asSecret(made.secret!),
        }
      },
    }),

    'POST /openid-clients/remove': consoleRoute({
      right: 'write',
      body: { client: text(64) },
      async answer({ tenant, actor, input: { client } }) {
        await applications.remove(tenant, actor, client)
        return { removed: client }
      },
    }),
  }
}

function shownClient(client: OpenIdClient) {
  /** False for an application that signs with a key of its own. */
  return { ...clientView(client), has_secret: client.secret !== null }
}
