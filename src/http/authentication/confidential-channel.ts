/** Whether secrets may travel back over the channel that a request came by. */
import type { Config } from '../../config/config.js'
import type { IncomingRequest } from '../listeners/listener.js'

/** True for TLS, for loopback, and where the operator says that a proxy in front ends TLS. */
export function isConfidential(
  { encrypted, remoteAddress }: Pick<IncomingRequest, 'encrypted' | 'remoteAddress'>,
  { tlsTerminatedUpstream }: Pick<Config, 'tlsTerminatedUpstream'>,
): boolean {
  return encrypted || tlsTerminatedUpstream || isLoopback(remoteAddress)
}

function isLoopback(address: string): boolean {
  return /^127\./.test(address) || /^(?:0000:){7}0001$/.test(address)
}
