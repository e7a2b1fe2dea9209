/** Tests of the schedule that rotates the keys of public verdicts, over a real database and with a clock that is moved. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { loadConfig } from '../../../src/app/configuration.js'
import { openCore } from '../../../src/app/core.js'
import { createLog } from '../../../src/app/log.js'
import { LeaderLease } from '../../../src/cluster/leader-lease.js'
import type { Config } from '../../../src/config/config.js'
import { openVerdictKey } from '../../../src/features/public-verdicts/verdict-key-ring.js'
import { ANNOUNCED_MS } from '../../../src/features/public-verdicts/verdict-key-rotation.js'
import { VerdictKeySchedule } from '../../../src/features/public-verdicts/verdict-key-schedule.js'
import { DAY_MS, HOUR_MS, ManualClock } from '../../../src/lib/clock.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { verdictKeysOf } from '../../support/verdict-keys.js'

const INTERVAL_MS = 90 * DAY_MS

let core: Core
let clock: ManualClock
let keys: ReturnType<typeof verdictKeysOf>
let leaderLease: LeaderLease
const log = createLog({ logLevel: 'silent' } as Config)

beforeEach(async () => {
  clock = new ManualClock()
  core = await openCore(loadConfig({ COUNTERSIGN_DATA_DIR: temporaryFolder() }), clock)
  keys = verdictKeysOf(core, clock)
  await keys.rotation.ensure()
  leaderLease = new LeaderLease(core.store, log)
  await leaderLease.start()
})
afterEach(async () => {
  await leaderLease.stop()
  await core.store.close()
})

const schedule = (intervalMs = INTERVAL_MS) =>
  new VerdictKeySchedule({
    ...{ store: core.store, rotation: keys.rotation, leaderLease, clock, log, intervalMs },
    reloadKeys: async () => {},
  })
const stored = () => keys.stored()
const signer = async () => (await keys.ring()).signer('production').kid
const published = async () => (await keys.ring()).published('production')

describe('the schedule of verdict keys', () => {
  it('publishes the next key of both environments so early that it signs when it is due', async () => {
    const first = await signer()
    clock.advance(INTERVAL_MS - ANNOUNCED_MS - 1)
    await schedule().rotateIfDue()
    expect(await stored()).toHaveLength(2)
    clock.advance(1)
    await schedule().rotateIfDue()
    await schedule().rotateIfDue()
    expect(await stored()).toHaveLength(4)
    expect(await signer()).toBe(first)
    clock.advance(ANNOUNCED_MS)
    expect(await signer()).not.toBe(first)
  })

  it('rotates nothing where it is off', async () => {
    clock.advance(10 * INTERVAL_MS)
    await schedule(0).rotateIfDue()
    expect(await stored()).toHaveLength(2)
  })

  it('does nothing in a service that is not the leader', async () => {
    clock.advance(INTERVAL_MS)
    await leaderLease.stop()
    await schedule().rotateIfDue()
    expect(await stored()).toHaveLength(2)
  })

  it('erases the private half of a key an hour after its last signature, and keeps its public half', async () => {
    clock.advance(INTERVAL_MS)
    await schedule().rotateIfDue()
    const hasPrivateHalf = async () =>
      (await stored())
        .filter(({ environment }) => environment === 'production')
        .map((record) => openVerdictKey(core.keys.secrets, record).jwk.d !== undefined)
    clock.advance(ANNOUNCED_MS + HOUR_MS - 1)
    await schedule().rotateIfDue()
    expect(await hasPrivateHalf()).toEqual([true, true])
    const before = await published()
    clock.advance(1)
    await schedule().rotateIfDue()
    expect(await hasPrivateHalf()).toEqual([false, true])
    expect(await published()).toEqual(before)
  })

  it('leaves a key that signs to a clock that is set back before the first key, or before the erasure of its private half', async () => {
    const first = await signer()
    clock.advance(-DAY_MS)
    expect(await signer()).toBe(first)
    clock.advance(DAY_MS + INTERVAL_MS)
    await schedule().rotateIfDue()
    clock.advance(ANNOUNCED_MS + DAY_MS)
    await schedule().rotateIfDue()
    const second = await signer()
    expect(second).not.toBe(first)
    clock.advance(-2 * DAY_MS)
    expect(await signer()).toBe(second)
  })

  it('records its rotations in the audit log under its own name', async () => {
    const { tenant } = await core.tenancy.create('acme')
    clock.advance(INTERVAL_MS)
    await schedule().rotateIfDue()
    const entries = await core.store.read.auditEntriesOfEvent(tenant.id, 'verdict_key_rotated', 0, 10)
    expect(entries.map(({ entry }) => JSON.parse(entry))).toMatchObject([
      { actor: 'schedule', environment: 'production', emergency: false },
      { actor: 'schedule', environment: 'sandbox', emergency: false },
    ])
  })
})

describe('a rotation', () => {
  it('lets the first key of an environment sign at once', async () => {
    const [sandbox] = (await stored()).filter(({ environment }) => environment === 'sandbox')
    await core.store.transaction('installation', (tx) => tx.deleteSealed('verdict_key', sandbox!.id))
    const [made] = await keys.rotation.rotate(['sandbox'], { name: 'operator', requestId: null })
    expect(made!.signsFrom).toBe(clock.now())
  })

  it('is refused where a row was moved to the other environment', async () => {
    const [production] = (await stored()).filter(({ environment }) => environment === 'production')
    const ring = await keys.ring()
    expect(() => ring.replace([{ ...production!, environment: 'sandbox' }])).toThrow(/other environment/)
  })
})
