/** The OpenID provider, by which applications, Keycloak and Entra ID ask for a verdict instead of calling the API. */
import { InternalApi } from '../../http/internal-api.js'
import { MAX_BROWSER_HEAD_BYTES } from '../../http/listeners/framing.js'
import type { Job } from '../../jobs/job.js'
import type { Feature } from '../feature.js'
import { openIdClientRoutes } from './console/console-routes.js'
import { OPENID_CLIENT_ERRORS, OpenIdClients } from './openid-clients.js'

const LISTENER = 'openid'

export const openid: Feature = {
  statuses: OPENID_CLIENT_ERRORS,
  listener: LISTENER,
  attach(host) {
    const clients = new OpenIdClients(host)
    const console = openIdClientRoutes(host, clients)
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
        const refusals = new Refusals({ ...host, clients, limiter: newLimiter() })
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
