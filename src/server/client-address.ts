/** Where a request comes from when proxies stand in between: they are believed only where the operator has named them. */
import { BlockList, isIP } from 'node:net'
import type { IncomingRequest } from './listener.js'
import { peerAddress } from './peer-address.js'

export class ClientAddresses {
  private readonly trusted = new BlockList()

  /** @param proxies addresses and networks (`10.0.0.0/8`), as the setting's parser lets them pass */
  constructor(proxies: readonly string[]) {
    for (const proxy of proxies) {
      const [address = '', prefix] = proxy.split('/')
      if (prefix === undefined) this.trusted.addAddress(address, familyOf(address))
      else this.trusted.addSubnet(address, Number(prefix), familyOf(address))
    }
  }

  /**
   * The address nearest to us that is not of a trusted proxy. What stands further left in X-Forwarded-For is whatever the
   * caller wrote there.
   */
  of({ remoteAddress, headers }: Pick<IncomingRequest, 'remoteAddress' | 'headers'>): string {
    let address = remoteAddress
    const hops = headers['x-forwarded-for']?.split(',') ?? []
    while (hops.length > 0 && this.isTrusted(address)) {
      const next = withoutPort(hops.pop()!.trim())
      if (isIP(next) === 0) break
      address = peerAddress(next)
    }
    return address
  }

  private isTrusted(address: string): boolean {
    return this.trusted.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}

/** Some proxies add it: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  return /^\[(.+)\](?::\d+)?$/.exec(hop)?.[1] ?? /^([\d.]+):\d+$/.exec(hop)?.[1] ?? hop
}
