/** How many service processes there are on this machine, and what each has of what is set for all. */
import { availableParallelism } from 'node:os'
import { type Config, ConfigError, isPostgres, type ListenAddress, SETTINGS } from '../../config/config.js'
import { freePorts } from '../../http/listeners/free-port.js'
import { AddressError } from '../../http/listeners/listener.js'
import { chooseTransport } from '../../http/listeners/transport.js'

/** What the main thread of one process can feed: a verify takes it less than an eighth of what it takes a worker. */
const CORES_A_PROCESS = 8
/** From which on node:http shares a port: 22.12 and 23.1. */
const SHARING_NODES = [
  [22, 12],
  [23, 1],
] as const

/** `auto` is one where several cannot be. */
export function processCount({ processes, database }: Config, machine = thisMachine()): number {
  if (processes !== 'auto') return processes
  const canBeSeveral = machine.platform === 'linux' && isPostgres({ database })
  return canBeSeveral ? Math.ceil(machine.cores / CORES_A_PROCESS) : 1
}

function thisMachine(): { cores: number; platform: NodeJS.Platform } {
  return { cores: availableParallelism(), platform: process.platform }
}

/** @throws ConfigError where this machine cannot have several processes at one address */
export async function assertPortsCanBeShared(config: Config): Promise<void> {
  const { variable } = SETTINGS.processes
  if (process.platform !== 'linux')
    throw new ConfigError(
      `${variable}: several processes share an address by SO_REUSEPORT, which only Linux spreads connections by; here there can be one.`,
    )
  const { name } = await chooseTransport(config.http)
  if (name === 'node' && !canNodeSharePorts(process.versions.node))
    throw new ConfigError(
      `${variable}: node:http of Node ${process.versions.node} cannot share an address among processes; Node 22.12 and 23.1 can, and so can uWebSockets.js (${SETTINGS.http.variable}).`,
    )
}

/** @param version such as 22.11.0 */
export function canNodeSharePorts(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const newest = SHARING_NODES.at(-1)!
  return major > newest[0] || SHARING_NODES.some(([since, from]) => major === since && minor >= from)
}

const ADDRESSES = [
  'productionListen',
  'sandboxListen',
  'adminListen',
  'metricsListen',
  'captureListen',
] as const

export type Addresses = Partial<Record<(typeof ADDRESSES)[number], ListenAddress>>

/** Those that are configured, with ports that nobody else has, chosen by the system for 0. @throws ListenError */
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
 * What one process of several has: its part of the workers, of the places in the queue and of the memory for bodies.
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
