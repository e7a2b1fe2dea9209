/** A set of IP addresses and networks, of both families. */
import { BlockList, isIP } from 'node:net'

export class AddressSet {
  private readonly list = new BlockList()

  /** @param networks addresses and networks (`10.0.0.0/8`), as `isNetwork` lets them pass */
  constructor(networks: readonly string[]) {
    for (const network of networks) {
      const [address = '', prefix] = network.split('/')
      if (prefix === undefined) this.list.addAddress(address, familyOf(address))
      else this.list.addSubnet(address, Number(prefix), familyOf(address))
    }
  }

  has(address: string): boolean {
    return isIP(address) !== 0 && this.list.check(address, familyOf(address))
  }
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4'
}
