/** Rotation of the epoch key with several services on one database, interrupted at every step. */
import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Core } from '../../../src/admin/core.js'
import { wrappingOf } from '../../../src/crypto/epoch-key.js'
import { isOpenedBy } from '../../../src/crypto/sealed-box.js'
import { EpochRotation, type EpochStep } from '../../../src/features/epoch-keys/epoch-rotation.js'
import { takeOverEpochs } from '../../../src/features/epoch-keys/epochs.js'
import { epochsOf } from '../../../src/features/postgres/exports.js'
import type { EpochRecord } from '../../../src/features/postgres/store/epoch-book.js'
import { toDomainError } from '../../../src/http/to-domain-error.js'
import { finishMasterKey, prepareMasterKey } from '../../../src/keys/master-key-rotation.js'
import { systemClock } from '../../../src/lib/clock.js'
import { StoreUnavailableError } from '../../../src/storage/store.js'
import { makeTenant } from '../../cluster/nodes.js'
import { poll } from '../../support/command.js'
import { base64, face } from '../../support/faces.js'
import { sampleOf } from '../../support/metrics.js'
import { overPostgres } from '../../support/postgres.js'
import { EpochStage, enrol, keyFiles, opens } from './epoch-parts.js'

overPostgres(() => {
  const stage = new EpochStage()
  const start = (count: number) => stage.start(count)
  const core = (env?: Record<string, string>) => stage.core(env)
  const enrolAt = (core: Core, tenantId: string, userId: string) => enrol(core, core, tenantId, userId)

  it('rotations under load refuse no call and leave nothing wrapped under the earlier epoch', async () => {
    await start(2)
    const tenant = await makeTenant(stage.cluster)
    const image = base64(await face('ada'))
    expect((await tenant.production[0]!.enroll({ user_id: 'ada', image })).status).toBe(201)
    const command = await core()
    const statuses = new Set<number>()
    let isOver = false
    const load = [0, 1].map(async (node) => {
      for (let i = 0; !isOver; i++) {
        const enrolled = await tenant.production[node]!.enroll({ user_id: `user-${node}-${i}`, image })
        const other = await tenant.production[1 - node]!.verify({
          ...{ user_id: `user-${node}-${i}`, image },
          action: { type: 'login' },
        })
        statuses.add(enrolled.status).add(other.status)
      }
    })
    const first = await stage.rotate(command)
    const second = await stage.rotate(command)
    isOver = true
    await Promise.all(load)
    expect([...statuses].sort()).toEqual([200, 201])
    expect(second.number).toBeGreaterThan(first.number)
    expect(keyFiles(stage.path)).toHaveLength(2)
    expect(await stage.destroyEnded(command)).toEqual([first.keyId])
    expect(keyFiles(stage.path)).toEqual([`${second.keyId}.epoch-key`])
    await stage.assertAllUnder(command, second.keyId)
    for (const client of tenant.production) {
      const verified = await client.verify({ user_id: 'ada', image, action: { type: 'login' } })
      expect(verified.status).toBe(200)
    }
  })

  const STEPS: EpochStep[] = ['announced', 'activated', 'fenced', 'wrapped', 'exported', 'completed']
  it('a rotation that is killed after any step loses no user, and the next rotation completes it', async () => {
    await start(0)
    const before = await core()
    const { tenant } = await before.tenancy.create('acme')
    const users: string[] = []
    const enrolOne = async (at: Core, userId: string) => {
      await enrolAt(at, tenant.id, userId)
      users.push(userId)
    }
    await enrolOne(before, 'ada')
    for (const broken of STEPS) {
      const crashing = await core()
      const crash = stage.rotate(crashing, {
        onStep: (step) => {
          if (step === broken) throw new Error('crash')
        },
      })
      await expect(crash).rejects.toThrow('crash')
      const numbers = (await epochsOf(crashing.store)!.epochs.all()).map(({ number }) => number)
      const after = await core()
      await enrolOne(after, `after ${broken}`)
      for (const user of users) expect(await opens(after, tenant.id, user)).toBe(true)
      const completed = await stage.rotate(await core())
      // An epoch in progress is completed; after a completed one, another begins.
      expect(numbers.includes(completed.number)).toBe(broken !== 'completed')
      await stage.destroyEnded(after)
      expect(keyFiles(stage.path)).toEqual([`${completed.keyId}.epoch-key`])
      const last = await core()
      await stage.assertAllUnder(last, completed.keyId)
      for (const user of users) expect(await opens(last, tenant.id, user)).toBe(true)
    }
  })

  it('two concurrent rotations announce one epoch', async () => {
    await start(0)
    const both = [await core(), await core()]
    const { tenant } = await both[0]!.tenancy.create('acme')
    for (let i = 0; i < 50; i++) await enrolAt(both[0]!, tenant.id, `user-${i}`)
    const begun = both.map((one) =>
      stage.rotate(one, {
        onStep: () => {
          throw new Error('crash')
        },
      }),
    )
    for (const { status } of await Promise.allSettled(begun)) expect(status).toBe('rejected')
    const [announced, ...others] = await epochsOf(both[0]!.store)!.epochs.all()
    expect(others).toEqual([])
    expect(keyFiles(stage.path)).toEqual([`${announced!.keyId}.epoch-key`])
    // A rotation that begins after the other has completed announces the next epoch.
    await Promise.all(both.map((one) => stage.rotate(one)))
    const after = await core()
    const records = await epochsOf(after.store)!.epochs.all()
    expect(records.filter(({ completedAt }) => completedAt === null)).toEqual([])
    expect(records.filter(({ retiredAt }) => retiredAt === null)).toHaveLength(1)
    await stage.assertAllUnder(after, records.at(-1)!.keyId)
    for (let i = 0; i < 50; i++) expect(await opens(after, tenant.id, `user-${i}`)).toBe(true)
  })

  it('a rotation that stalls while later epochs complete changes nothing and is refused as overtaken', async () => {
    await start(0)
    const [stalled, other] = [await core(), await core()]
    const { tenant } = await stalled.tenancy.create('acme')
    await enrolAt(stalled, tenant.id, 'ada')
    const folder = stage.folder
    const takeOver = async () => void (await takeOverEpochs(stalled.store, stalled.keys, folder))
    let last: EpochRecord | undefined
    const standing = new EpochRotation({
      ...{ store: stalled.store, keys: stalled.keys, folder, clock: systemClock },
      reloadKeys: async () => {
        await takeOver()
        for (let i = 0; i < 2; i++) last = await stage.rotate(other)
        await stage.destroyEnded(other)
        await takeOver()
      },
    })
    await expect(standing.rotate({ patienceMs: 60_000 })).rejects.toMatchObject({ code: 'overtaken' })
    const after = await core()
    await stage.assertAllUnder(after, last!.keyId)
    expect(await opens(after, tenant.id, 'ada')).toBe(true)
  })

  it('a rotation waits for a service that cannot read the folder, and that service keeps answering', async () => {
    const elsewhere = join(stage.path, 'not-mounted')
    mkdirSync(elsewhere)
    await start(1)
    await stage.cluster.start({ COUNTERSIGN_EPOCH_KEYS: elsewhere })
    const tenant = await makeTenant(stage.cluster)
    const image = base64(await face('ada'))
    const command = await core()
    const behind = (await command.store.services())[1]!.name
    await expect(stage.rotate(command, { patienceMs: 3000 })).rejects.toMatchObject({
      code: 'nodes_behind',
      message: expect.stringMatching(`^${behind} cannot read the key of epoch`),
    })
    for (const [node, client] of tenant.production.entries())
      expect((await client.enroll({ user_id: `user-${node}`, image })).status).toBe(201)
    await stage.cluster.nodes[1]!.stop()
    const { completedAt, keyId } = await stage.rotate(command)
    expect(completedAt).not.toBeNull()
    await stage.assertAllUnder(command, keyId)
  })

  it('a service that wraps under a retired epoch writes nothing until it reads the next one', async () => {
    await start(0)
    const [stale, other] = [await core(), await core()]
    const { tenant } = await stale.tenancy.create('acme')
    await enrolAt(stale, tenant.id, 'ada')
    await stage.rotate(other)
    await expect(enrolAt(stale, tenant.id, 'late')).rejects.toThrow(StoreUnavailableError)
    await takeOverEpochs(stale.store, stale.keys, stage.folder)
    await enrolAt(stale, tenant.id, 'late')
    for (const user of ['ada', 'late']) expect(await opens(other, tenant.id, user)).toBe(true)
  })

  it('a service that stood still while the keys changed answers reads with 503 until it reads the keys', async () => {
    await start(0)
    const [stale, other] = [await core(), await core()]
    const { tenant } = await stale.tenancy.create('acme')
    await enrolAt(stale, tenant.id, 'ada')
    const codeOf = (read: Promise<unknown>) =>
      read.then(
        () => null,
        (error: unknown) => toDomainError(error).code,
      )
    await stage.rotate(other)
    expect(await codeOf(opens(stale, tenant.id, 'ada'))).toBe('store_unavailable')
    await takeOverEpochs(stale.store, stale.keys, stage.folder)
    expect(await opens(stale, tenant.id, 'ada')).toBe(true)

    const next = randomBytes(32)
    await prepareMasterKey(other.store, other.keys, next)
    const renewed = await core({ COUNTERSIGN_MASTER_KEY: next.toString('base64') })
    await finishMasterKey(renewed.store, renewed.keys, next)
    expect(await codeOf(stale.secrets.active(stale.store.read, tenant.id))).toBe('store_unavailable')
  })

  it('epochs go on before and after a change of the master key', async () => {
    await start(0)
    const command = await core()
    const { tenant } = await command.tenancy.create('acme')
    await enrolAt(command, tenant.id, 'ada')
    const first = await stage.rotate(command)
    const next = randomBytes(32)
    await prepareMasterKey(command.store, command.keys, next)
    const renewed = await core({ COUNTERSIGN_MASTER_KEY: next.toString('base64') })
    await finishMasterKey(renewed.store, renewed.keys, next)
    const finished = await core({ COUNTERSIGN_MASTER_KEY: next.toString('base64') })
    expect(await opens(finished, tenant.id, 'ada')).toBe(true)
    // The working keys from before open nothing, with the epoch key or without it.
    await stage.assertAllUnder(finished, first.keyId)
    const [row] = await finished.store.read.sealedRows('subject', '', 1)
    const firstKey = (await stage.folder.read(first.keyId))!
    expect(isOpenedBy(wrappingOf(command.keys, firstKey), row!)).toBe(false)
    const second = await stage.rotate(finished)
    await stage.assertAllUnder(finished, second.keyId)
  })

  it('opening the database without the folder or with a missing key names the setting and the key', async () => {
    await start(0)
    const command = await core()
    await command.tenancy.create('acme')
    const { keyId } = await stage.rotate(command)
    await expect(core({ COUNTERSIGN_EPOCH_KEYS: '' })).rejects.toThrow(/COUNTERSIGN_EPOCH_KEYS must name/)
    await stage.folder.destroy(new Set([keyId]))
    await expect(core()).rejects.toThrow(new RegExp(`lacks the key ${keyId}`))
  })

  it('the leader begins and completes epochs automatically', async () => {
    await stage.start(2, { COUNTERSIGN_EPOCH_RETENTION_HOURS: '0' })
    const { epochs } = epochsOf(stage.cluster.nodes[0]!.core.store)!
    const records = await poll(
      () => epochs.all(),
      (all) => all.some(({ completedAt }) => completedAt !== null),
    )
    expect(records).toHaveLength(1)
    expect(keyFiles(stage.path)).toEqual([`${records[0]!.keyId}.epoch-key`])
    for (const { adminUrl } of stage.cluster.nodes) {
      const metrics = await (await fetch(`${adminUrl}/metrics`)).text()
      expect(sampleOf(metrics, 'countersign_key_epoch_start_timestamp_seconds')).toBe(
        records[0]!.announcedAt / 1000,
      )
    }
  })
})
