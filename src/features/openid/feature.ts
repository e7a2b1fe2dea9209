/** The OpenID provider, by which applications, Keycloak and Entra ID ask for a verdict instead of calling the API. */
import { InternalApi } from '../../http/internal-api.js'
import { MAX_BROWSER_HEAD_BYTES } from '../../http/listeners/framing.js'
import type { Job } from '../../jobs/job.js'
import type { Feature } from '../feature.js'
import { openIdClientRoutes } from './console/console-routes.js'
import type { OpenIdClientError } from './openid-clients.js'
import { OpenIdOperations } from './openid-operations.js'

const LISTENER = 'openid'
const STATUSES = {
  invalid_redirect_uri: 400,
  invalid_acr: 400,
  invalid_name: 400,
  invalid_help_url: 400,
  invalid_hand_over: 400,
  invalid_jwks: 400,
  secret_required: 400,
  client_exists: 409,
  client_not_found: 404,
  realm_exists: 409,
} satisfies Record<OpenIdClientError['code'], number>

export const openid: Feature = {
  statuses: STATUSES,
  listener: LISTENER,
  attach(host) {
    const console = openIdClientRoutes(host)
    if (!host.config.openidListen) return { console }
    // It calls the API, which is there when the listener is opened.
    let callbacks: Job | undefined
    return {
      console,
      jobs: { drained: [{ start: () => callbacks?.start(), stop: () => callbacks?.stop() }] },
      async listen({ apis, addresses, visitors, newLimiter, open, origin }) {
        const { OpenIdServer } = await import('./openid-server.js')
        const { OpenIdKeys } = await import('./openid-keys.js')
        const { Refusals } = await import('./refusals.js')
        const { CallbackSender } = await import('./keycloak/callback-sender.js')
        const operations = new OpenIdOperations(host)
        const { clients } = operations
        const refusals = new Refusals({ ...host, clients, entries: operations, limiter: newLimiter() })
        const parts = { ...host, clients, refusals, calls: new InternalApi({ ...host, apis }) }
        callbacks = new CallbackSender(parts)
        const server = new OpenIdServer({
          ...parts,
          addresses,
          visitors,
          openIdKeys: new OpenIdKeys(host.store, host.keys, host.clock),
          origin: () => origin(LISTENER),
        })
        await open(LISTENER, {
          maxHeadBytes: MAX_BROWSER_HEAD_BYTES,
          handler: (request) => server.handle(request),
        })
      },
    }
  },
}
