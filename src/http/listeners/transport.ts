/** Chooses the HTTP server: uWebSockets.js where its binary loads, else node:http. */
import { ListenError, type Listener, type ListenerOptions } from './listener.js'
import { uwsRelease } from './uws-package.js'

export type TransportName = 'uws' | 'node'
/** `preferred`: the setting is `auto`, and uWebSockets.js loads. `unavailable`: it does not load. */
type TransportReason = 'preferred' | 'configured' | 'unavailable'

export interface Transport {
  name: TransportName
  /** Version of the uWebSockets.js package, or of Node. */
  version: string
  reason: TransportReason
  /** Name, version and reason in one line for people. */
  description: string
}

/**
 * Most bytes of URL and headers that the parser of uWebSockets.js reads, for every listener of this process. It answers a longer head
 * itself, in HTML and without a signature. Below that, each listener refuses what is longer than its own limit.
 */
const UWS_PARSED_HEAD_BYTES = 32 * 1024

/** Functions that the listener calls. A package without them is another one under the name, or its slow imitation. */
const USED = ['App', 'SSLApp', 'us_listen_socket_close', 'us_socket_local_port', 'getParts']

/** @throws ListenError where uWebSockets.js is asked for and does not load */
export async function chooseTransport(wanted: 'auto' | TransportName): Promise<Transport> {
  if (wanted === 'node') return nodeTransport('configured', 'COUNTERSIGN_HTTP=node')
  const obstacle = await uwsObstacle()
  if (obstacle === null) {
    const { package: name, version } = uwsRelease()
    const release = name === 'uWebSockets.js' ? version : `${version} of ${name}`
    const [reason, why] =
      wanted === 'uws' ? (['configured', ' (COUNTERSIGN_HTTP=uws)'] as const) : (['preferred', ''] as const)
    return { name: 'uws', version, reason, description: `uWebSockets.js ${release}${why}` }
  }
  if (wanted === 'uws')
    throw new ListenError(`COUNTERSIGN_HTTP=uws, and uWebSockets.js does not load: ${obstacle}`)
  return nodeTransport('unavailable', `uWebSockets.js does not load: ${obstacle}`)
}

/** Starts a listener, and loads only the chosen transport. @throws ListenError */
export async function listen(options: ListenerOptions, { name }: Pick<Transport, 'name'>): Promise<Listener> {
  if (name === 'uws') {
    limitParsedHead()
    return (await import('./uws-listener.js')).listenOnUws(options)
  }
  return (await import('./node-listener.js')).listenOnNode(options)
}

function nodeTransport(reason: TransportReason, why: string): Transport {
  const { version } = process
  return { name: 'node', version, reason, description: `node:http of ${version} (${why})` }
}

/** uWebSockets.js reads this variable once, when its binary loads. */
function limitParsedHead(): void {
  process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(UWS_PARSED_HEAD_BYTES)
}

/** The reason why uWebSockets.js cannot serve, in one line; null where it can. */
async function uwsObstacle(): Promise<string | null> {
  limitParsedHead()
  try {
    const module: Record<string, unknown> = { ...(await import('uWebSockets.js')) }
    const missing = USED.filter((name) => typeof module[name] !== 'function')
    return missing.length === 0 ? null : `it lacks ${missing.join(', ')}`
  } catch (error) {
    return uwsObstacleIn(String((error as Error).message))
  }
}

/** @param message error of the import: its first line names the versions of Node that the package supports, the next line what happened */
export function uwsObstacleIn(message: string): string {
  const [general, particular] = message.split('\n').filter(Boolean)
  return particular?.replace(/^Error: /, '') ?? general ?? 'for an unknown reason'
}
