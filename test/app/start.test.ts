/** A start loads the engine while it loads features and opens the database, and a failure of either part leaves nothing behind. */
import { expect, it } from 'vitest'
import type { Core } from '../../src/admin/core.js'
import { EngineProcess } from '../../src/biometrics/engine/engine-process.js'
import type { Feature, ListedFeature } from '../../src/features/feature.js'
import { childrenOf } from '../support/process-tree.js'
import { startService } from '../support/service.js'

const listed = (open: NonNullable<Feature['open']>): ListedFeature => ({
  name: 'watched',
  load: async () => ({ open }),
})

it('a start that was given up before it began ends with the reason, though the database could be waited for', async () => {
  const given = new Error('stopped by a signal')
  await expect(startService({}, { ownEngine: true, signal: AbortSignal.abort(given) })).rejects.toBe(given)
})

it('a feature that cannot open ends the engine that was starting, with its own reason', async () => {
  const before = childrenOf(process.pid)
  let during: number[] = []
  const failing = listed(async () => {
    // The engine's process is there before the feature has failed.
    await expect.poll(() => childrenOf(process.pid).length).toBeGreaterThan(before.length)
    during = childrenOf(process.pid)
    throw new Error('the feature has no key')
  })
  await expect(startService({}, { ownEngine: true, features: [failing] })).rejects.toThrow(
    'the feature has no key',
  )
  expect(during.length).toBeGreaterThan(before.length)
  expect(childrenOf(process.pid)).toEqual(before)
})

it('an engine that cannot start closes what was opened meanwhile, with its own reason', async () => {
  let opened: (core: Core) => void
  const core = new Promise<Core>((resolve) => {
    opened = resolve
  })
  const start = EngineProcess.start
  EngineProcess.start = async () => {
    await core
    throw new Error('a network does not load')
  }
  const watching = listed(async (opening) => {
    opened(opening)
    return {}
  })
  try {
    const starting = startService({}, { ownEngine: true, features: [watching] })
    await expect(starting).rejects.toThrow('a network does not load')
    await expect(core.then(({ store }) => store.read.tenants())).rejects.toThrow()
  } finally {
    EngineProcess.start = start
  }
})
