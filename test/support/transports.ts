/** Runs one suite over every HTTP transport, or only over uWebSockets.js. */
import { describe } from 'vitest'
import { BodyBudget } from '../../src/http/bodies/body-budget.js'
import type { ConnectionLimits } from '../../src/http/listeners/listener.js'
import { chooseTransport, type TransportName } from '../../src/http/listeners/transport.js'
import { OVER_UWS } from './skippable.js'

export const LIMITS: ConnectionLimits = {
  headMs: 10_000,
  requestMs: 20_000,
  idleMs: 10_000,
  maxConnections: 1000,
}
/** More than any test of a transport sends. */
export const BODIES = new BodyBudget(64 * 2 ** 20).quota(1)

const { name: firstChoice } = await chooseTransport('auto')

export function overTransports(suite: (transport: TransportName) => void): void {
  overUws(() => suite('uws'))
  describe('over node', () => suite('node'))
}

/** Shows as skipped where it does not load. */
export function overUws(suite: () => void): void {
  describe.skipIf(firstChoice !== 'uws')(OVER_UWS, suite)
}
