/**
 * Refuses requests under foreign host names. With DNS rebinding, another site points its own name at this address: the browser takes both
 * for one origin, and only the name in the request distinguishes them.
 */
import { isIP } from 'node:net'
import { requestId } from '../../crypto/identifiers.js'
import type { Clock } from '../../lib/clock.js'
import { OPERATOR_ERRORS } from '../../lib/operator-errors.js'
import type { IncomingRequest, Reply } from '../listeners/listener.js'
import { json } from './replies.js'

export const UNKNOWN_HOST = {
  code: 'unknown_host',
  status: 421,
  message: 'The service is not known by the host name of this request; COUNTERSIGN_ADMIN_HOSTS names more.',
  remedy: OPERATOR_ERRORS.unknown_host.remedy,
} as const

export class HostGuard {
  /** @param hosts accepted names, in lower case @param errorsUrl address of the page that explains the codes, where there is one */
  constructor(
    private readonly hosts: ReadonlySet<string>,
    private readonly clock: Clock,
    private readonly count: (code: string) => void,
    private readonly errorsUrl: () => string | undefined,
  ) {}

  /** Returns the refusal of a request under a foreign name, or undefined. */
  refusal({ headers }: Pick<IncomingRequest, 'headers'>): Reply | undefined {
    const host = hostName(headers.host ?? '')
    // Nobody can redirect an IP address to another one.
    if (isIP(host) !== 0 || this.hosts.has(host)) return undefined
    const { code, status, message, remedy } = UNKNOWN_HOST
    this.count(code)
    const errorsUrl = this.errorsUrl()
    const body = {
      error: 'invalid_request',
      code,
      message,
      remedy,
      ...(errorsUrl && { doc_url: `${errorsUrl}#${code}` }),
      request_id: requestId(this.clock.now()),
    }
    return json(body, status)
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
