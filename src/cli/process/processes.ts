/** The number of service processes on this machine, and each one's part of the configured resources. */
import { type Config, ConfigError, type ListenAddress, SETTINGS } from '../../config/config.js'
import { LISTENERS } from '../../config/listener-settings.js'
import { freePorts } from '../../http/free-port.js'
import { AddressError } from '../../http/listeners/listener.js'
import { chooseTransport } from '../../http/listeners/transport.js'

/** Versions of Node from which on node:http can share a port: 22.12 and 23.1. */
const SHARING_NODES = [
  [22, 12],
  [23, 1],
] as const

/** @throws ConfigError where this machine cannot have several processes at one address */
export async function assertPortsCanBeShared(config: Config): Promise<void> {
  const { variable } = SETTINGS.processes
  if (process.platform !== 'linux')
    throw new ConfigError(
      `${variable}: several processes need Linux, which spreads the connections to one address among them (SO_REUSEPORT). Set it to 1 on this system.`,
    )
  const { name } = await chooseTransport(config.http)
  if (name === 'node' && !canNodeSharePorts(process.versions.node))
    throw new ConfigError(
      `${variable}: node:http of Node ${process.versions.node} cannot share an address among processes. Use Node 22.12, 23.1 or later, use uWebSockets.js (${SETTINGS.http.variable}), or set ${variable} to 1.`,
    )
}

/** @param version such as 22.11.0 */
export function canNodeSharePorts(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const newest = SHARING_NODES.at(-1)!
  return major > newest[0] || SHARING_NODES.some(([since, from]) => major === since && minor >= from)
}

const ADDRESSES = LISTENERS.map((listener) => `${listener}Listen` as const)

export type Addresses = Partial<Record<(typeof ADDRESSES)[number], ListenAddress>>

/** Configured addresses, each with a port that is free; the system chooses one where 0 is configured. @throws ListenError */
export async function ownAddresses(config: Config): Promise<Addresses> {
  const wanted = ADDRESSES.filter((name) => config[name] !== undefined)
  const ports = await freePorts(wanted.map((name) => config[name]!)).catch((error) => {
    const taken = error instanceof AddressError && wanted.find((name) => isSame(config[name]!, error.address))
    throw taken ? error.named(SETTINGS[taken].variable) : error
  })
  return Object.fromEntries(wanted.map((name, i) => [name, { host: config[name]!.host, port: ports[i]! }]))
}

function isSame(one: ListenAddress, other: ListenAddress): boolean {
  return one.host === other.host && one.port === other.port
}

/**
 * The configuration of one process among several: with its part of the workers, of the queue and of the memory for request bodies.
 * @param index from 0
 */
export function shareOf(config: Config, index: number, count: number): Config {
  const { workers, queueLimit, bodyMemoryBytes, maxBodyBytes } = config
  return {
    ...config,
    workers: Math.max(1, Math.floor(workers / count) + (index < workers % count ? 1 : 0)),
    queueLimit: Math.ceil(queueLimit / count),
    bodyMemoryBytes: Math.max(maxBodyBytes, Math.floor(bodyMemoryBytes / count)),
  }
}
