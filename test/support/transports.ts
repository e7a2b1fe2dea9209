/** One suite over every HTTP transport. Where uWebSockets.js has no binary for this Node, its share shows as skipped. */
import { describe } from 'vitest'
import { BodyBudget } from '../../src/server/body-budget.js'
import type { ConnectionLimits } from '../../src/server/listener.js'
import { chooseTransport, type TransportName } from '../../src/server/transport.js'

export const LIMITS: ConnectionLimits = {
  headMs: 10_000,
  requestMs: 20_000,
  idleMs: 10_000,
  maxConnections: 1000,
}
/** More than any test of a transport sends. */
export const BODIES = new BodyBudget(64 * 2 ** 20).share(1)
export const TRANSPORTS: readonly TransportName[] = ['uws', 'node']

const { name: firstChoice } = await chooseTransport('auto')

export function overTransports(suite: (transport: TransportName) => void): void {
  for (const transport of TRANSPORTS)
    describe.skipIf(transport === 'uws' && firstChoice !== 'uws')(`over ${transport}`, () => suite(transport))
}
