/**
 * The host names by which the admin listener may be reached. A page of another site whose name is turned to this address (DNS
 * rebinding) is of one origin with it to the browser, and would read metrics and sign in; its own name gives it away.
 */
import { isIP } from 'node:net'
import { requestId } from '../crypto/identifiers.js'
import type { IncomingRequest, Reply } from '../http/listeners/listener.js'
import type { Clock } from '../lib/clock.js'
import { DashboardError, refusal } from './dashboard-error.js'

export class HostGuard {
  /** @param hosts names, in lower case */
  constructor(
    private readonly hosts: ReadonlySet<string>,
    private readonly clock: Clock,
    private readonly count: (code: string) => void,
  ) {}

  /** To a request under a name that is none of ours. */
  refusal({ headers }: Pick<IncomingRequest, 'headers'>): Reply | undefined {
    const host = hostName(headers.host ?? '')
    // Nobody can turn an IP address to another.
    if (isIP(host) !== 0 || this.hosts.has(host)) return undefined
    return refusal(new DashboardError('unknown_host'), requestId(this.clock.now()), this.count)
  }
}

/** Without port, brackets of IPv6 and the dot of the root. */
function hostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
}
