import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Membership } from '../../src/cluster/membership.js'
import type { Coordinator, ServiceNode } from '../../src/storage/coordinator.js'
import { StoreUnavailableError } from '../../src/storage/store.js'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('lists no services while the database does not answer', async () => {
  const node: ServiceNode = {
    id: 'one',
    name: 'web1/1',
    version: '1.0.0',
    commit: 'unknown',
    schema: null,
    notReady: [],
    startedAt: 0,
    leaseMs: 2000,
    settings: {},
    masterKeys: null,
  }
  let isThere = true
  const services = async () => {
    if (!isThere) throw new StoreUnavailableError('away')
    return [node]
  }
  const coordinator = { id: 'one', isOutdated: false, announce: async () => {} } as unknown as Coordinator
  const membership = new Membership(
    { coordinator, presence: coordinator, services },
    pino({ level: 'silent' }),
  )
  await membership.start({})
  expect(membership.nodes).toEqual([node])
  isThere = false
  await vi.advanceTimersByTimeAsync(2000)
  expect(membership.nodes).toEqual([])
  isThere = true
  await vi.advanceTimersByTimeAsync(2000)
  expect(membership.nodes).toEqual([node])
  await membership.stop()
})
