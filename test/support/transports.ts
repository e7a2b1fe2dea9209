/** Runs one suite over every HTTP transport, or only over uWebSockets.js. */
import { describe, onTestFinished } from 'vitest'
import { BodyBudget } from '../../src/http/bodies/body-budget.js'
import type { ConnectionLimits, Listener, ListenerOptions } from '../../src/http/listeners/listener.js'
import { chooseTransport, listen, type TransportName } from '../../src/http/listeners/transport.js'
import { OVER_UWS } from './skippable.js'

export const LIMITS: ConnectionLimits = {
  headMs: 10_000,
  requestMs: 20_000,
  idleMs: 10_000,
  maxConnections: 1000,
}
/** More than any test of a transport sends. */
const BODIES = new BodyBudget(64 * 2 ** 20).quota(1)

/** A listener on a free port for the rest of a test. */
export async function listenForTest(
  name: TransportName,
  options: Pick<ListenerOptions, 'handler' | 'maxBodyBytes'> & Partial<ListenerOptions>,
): Promise<Listener> {
  const address = { host: '127.0.0.1', port: 0 }
  const listener = await listen({ address, bodies: BODIES, limits: LIMITS, ...options }, { name })
  onTestFinished(() => listener.close(1000))
  return listener
}

const { name: firstChoice } = await chooseTransport('auto')

export function overTransports(suite: (transport: TransportName) => void): void {
  overUws(() => suite('uws'))
  describe('over node', () => suite('node'))
}

/** Shows as skipped where it does not load. */
export function overUws(suite: () => void): void {
  describe.skipIf(firstChoice !== 'uws')(OVER_UWS, suite)
}
