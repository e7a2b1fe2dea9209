/** The routes for a tenant's applications at the OpenID provider. */
import Type from 'typebox'
import type { Environment } from '../../../config/config.js'
import { asSecret, type ConsoleTable, type Secret } from '../../../dashboard/lib/route.js'
import { environment } from '../../../dashboard/lib/user-question.js'
import { isoTime } from '../../../lib/clock.js'
import type { FeatureHost } from '../../feature.js'
import type { OpenIdClient } from '../openid-clients.js'
import { OpenIdOperations } from '../openid-operations.js'

/** The routes, as the pages see them. */
export interface OpenIdClientRoutes {
  'GET /openid-clients': { answer: OpenIdClientList }
  'POST /openid-clients': { body: typeof newOpenIdClient; answer: NewOpenIdClientSecret }
  'POST /openid-clients/remove': { body: typeof openIdClientChoice; answer: { removed: string } }
}

export interface OpenIdClientList {
  clients: OpenIdClientView[]
  /** Whether production has a key, without which it has no applications. */
  has_production: boolean
}

export interface OpenIdClientView {
  client_id: string
  environment: Environment
  name: string
  profile: string
  redirect_uris: string[]
  acr: string
  help_url: string | null
  /** False for an application that signs with a key of its own. */
  has_secret: boolean
  created_at: string
}

export interface NewOpenIdClientSecret {
  client: OpenIdClientView
  /** Shown only once. */
  client_secret: Secret
}

const closed = { additionalProperties: false }

export const newOpenIdClient = Type.Object(
  {
    environment,
    name: Type.String({ maxLength: 64 }),
    profile: Type.Union([Type.Literal('generic'), Type.Literal('okta')]),
    redirect_uris: Type.Array(Type.String({ maxLength: 2048 }), { minItems: 1, maxItems: 20 }),
    acr: Type.String({ maxLength: 128 }),
    help_url: Type.Union([Type.String({ maxLength: 2048 }), Type.Null()]),
  },
  closed,
)

export const openIdClientChoice = Type.Object({ client: Type.String({ maxLength: 64 }) }, closed)

export function openIdClientRoutes(host: FeatureHost): ConsoleTable<OpenIdClientRoutes> {
  const operations = new OpenIdOperations(host)
  return {
    'GET /openid-clients': {
      async answer({ tenant }) {
        const clients = await operations.clients.of(host.store.read, tenant.id)
        return { clients: clients.map(clientView), has_production: tenant.productionIssuedAt !== null }
      },
    },

    'POST /openid-clients': {
      status: 201,
      givesSecret: true,
      body: newOpenIdClient,
      async answer({ tenant, actor, input }) {
        const { environment, name, redirect_uris: redirectUris, acr, profile, help_url: helpUrl } = input
        const made = await operations.add(tenant, actor, environment, {
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
      body: openIdClientChoice,
      async answer({ tenant, actor, input: { client } }) {
        await operations.remove(tenant, actor, client)
        return { removed: client }
      },
    },
  }
}

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
