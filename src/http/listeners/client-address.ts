/** Finds the address of a caller behind proxies. `X-Forwarded-For` counts only from proxies that the operator trusts. */
import { isIP } from 'node:net'
import { AddressSet } from '../../tenants/address-set.js'
import type { IncomingRequest } from './listener.js'
import { peerAddress } from './peer-address.js'

export class ClientAddresses {
  private readonly trusted: AddressSet

  /** @param proxies addresses and networks (`10.0.0.0/8`), as the setting's parser lets them pass */
  constructor(proxies: readonly string[]) {
    this.trusted = new AddressSet(proxies)
  }

  /**
   * The last address that does not belong to a trusted proxy. The caller can write anything further left into X-Forwarded-For.
   */
  of({ remoteAddress, headers }: Pick<IncomingRequest, 'remoteAddress' | 'headers'>): string {
    let address = remoteAddress
    const hops = headers['x-forwarded-for']?.split(',') ?? []
    while (hops.length > 0 && this.trusted.has(address)) {
      const next = withoutPort(hops.pop()!.trim())
      if (isIP(next) === 0) break
      address = peerAddress(next)
    }
    return address
  }
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}
