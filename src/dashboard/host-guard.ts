/**
 * Refuses requests under foreign host names. With DNS rebinding, another site points its own name at this address: the browser takes both
 * for one origin, and only the name in the request distinguishes them.
 */
import { isIP } from 'node:net'
import { requestId } from '../crypto/identifiers.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import type { Clock } from '../lib/clock.js'
import { DashboardError, refusal } from './dashboard-error.js'

export class HostGuard {
  /** @param hosts accepted names, in lower case @param errorsUrl address of the page that explains the codes */
  constructor(
    private readonly hosts: ReadonlySet<string>,
    private readonly clock: Clock,
    private readonly count: (code: string) => void,
    private readonly errorsUrl: () => string,
  ) {}

  /** Returns the refusal of a request under a foreign name, or undefined. */
  refusal({ headers }: Pick<IncomingRequest, 'headers'>): Reply | undefined {
    const host = hostName(headers.host ?? '')
    // Nobody can redirect an IP address to another one.
    if (isIP(host) !== 0 || this.hosts.has(host)) return undefined
    return refusal(new DashboardError('unknown_host'), {
      requestId: requestId(this.clock.now()),
      errorsUrl: this.errorsUrl(),
      count: this.count,
    })
  }
}

/** Removes the port, the brackets of IPv6 and the final dot of the root. */
function hostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}
