/** Checks that no other process listens at an address. */
import { type AddressInfo, createServer } from 'node:net'
import type { ListenAddress } from '../config/config.js'
import { addressError } from './listeners/listener.js'

/**
 * Binds each address without SO_REUSEPORT, which fails where another process listens there.
 * @returns the ports; for port 0, a different one for each address, chosen by the system
 * @throws ListenError
 */
export async function freePorts(addresses: readonly ListenAddress[]): Promise<number[]> {
  const probes = await Promise.allSettled(addresses.map(probe))
  const found = probes.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  await Promise.all(found.map(({ close }) => close()))
  for (const one of probes) if (one.status === 'rejected') throw one.reason
  return found.map(({ port }) => port)
}

function probe(address: ListenAddress): Promise<{ port: number; close(): Promise<void> }> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause) => reject(addressError(address, cause)))
    server.listen({ ...address, exclusive: true }, () => {
      const { port } = server.address() as AddressInfo
      resolve({ port, close: () => new Promise((closed) => server.close(() => closed())) })
    })
  })
}
