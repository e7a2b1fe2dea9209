/** Services with different model packs on one database, while the installation changes from one pack to another. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import type { Service } from '../../src/app/service.js'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { type ApiClient, apiClient } from '../support/client.js'
import { photosOf } from '../support/faces.js'
import { overPostgres } from '../support/postgres.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { writeTurnedPack } from '../support/turned-pack.js'
import { type Cluster, type ClusterTenant, makeTenant, startCluster } from './nodes.js'

const OLD = 'baseline@1.0.0'
const NEW = 'turned@1.0.0'
const action = 'log in'

const [ada, adaToday, grace] = await photosOf('ada', 'adaToday', 'grace')

overPostgres(() => {
  const folder = temporaryFolder()
  let cluster: Cluster
  let tenant: ClusterTenant
  /** Settings of the earlier configuration, of the one for the change, and of the one for its end. */
  let settings: Record<'before' | 'during' | 'after', Record<string, string>>

  beforeAll(async () => {
    await writeTurnedPack(folder, inject('modelsDir'), 'turned')
    const baseline = join(inject('modelsDir'), 'baseline')
    const both = { COUNTERSIGN_ACCEPT_PACK: 'baseline,turned' }
    settings = {
      before: { COUNTERSIGN_MODEL_PACK: baseline },
      during: { ...both, COUNTERSIGN_MODEL_PACK: baseline, COUNTERSIGN_FOLLOWING_PACKS: folder },
      after: { ...both, COUNTERSIGN_MODEL_PACK: folder, COUNTERSIGN_FOLLOWING_PACKS: baseline },
    }
    cluster = await startCluster(0)
    await start('before')
    tenant = await makeTenant(cluster)
  })
  afterAll(() => cluster?.stop())

  const running: Service[] = []
  const start = async (configuration: keyof typeof settings) => {
    const node = await cluster.start(settings[configuration])
    running.push(node)
    return node
  }
  const stop = async (node: Service) => {
    running.splice(running.indexOf(node), 1)
    await node.stop()
  }
  /** Replaces a service by one of another configuration, which starts before the other ends. */
  const roll = async (node: Service, configuration: keyof typeof settings) => {
    const next = await start(configuration)
    await stop(node)
    return next
  }
  const at = (node: Service): ApiClient => apiClient(node.url('production'), tenant.key)
  const operations = () => running[0]!.core.operations
  const begin = () =>
    operations().models.begin(COMMAND_LINE, {
      ...{ from: OLD, to: NEW, strictFmr: null, atCoverage: null, atTime: null },
    })
  const decide = async (by: 'from' | 'to') => {
    const record = (await running[0]!.core.tenancy.find(tenant.id))!
    return operations().models.decide(record, COMMAND_LINE, by, { isForced: true })
  }
  const modelsOf = async (userId: string) => {
    const { vault, store } = running[0]!.core
    const subject = await vault.find(store.read, vault.blindIndex(tenant.id, 'production', userId), userId)
    return [subject!.reference!.model, ...subject!.following.map(({ model }) => model)]
  }

  let users = 0
  /** Enrolls through each service, and verifies through each other one; a stranger is rejected. */
  async function journey(isOf: (model: string) => boolean) {
    for (const one of running)
      for (const other of running) {
        const user_id = `user-${++users}`
        const enrolled = await at(one).enroll({ user_id, image: ada })
        expect([enrolled.status, enrolled.body.code]).toEqual([201, undefined])
        const genuine = await at(other).verify({ user_id, image: adaToday, action })
        expect(genuine.body).toMatchObject({ verdict: 'approved' })
        expect([genuine.body.model, isOf(genuine.body.model)]).toEqual([genuine.body.model, true])
        const stranger = await at(other).verify({ user_id, image: grace, action })
        expect(stranger.body).toMatchObject({ verdict: 'rejected', reason: 'no_match' })
      }
  }
  const isOld = (model: string) => model === OLD

  it('a change begins once every service has loaded both packs, and users of before go on meanwhile', async () => {
    await journey(isOld)
    expect((await at(running[0]!).enroll({ user_id: 'early', image: ada })).status).toBe(201)
    const next = await start('during')
    await journey(isOld)
    await expect(begin()).rejects.toMatchObject({ code: 'model_pack_not_served' })
    expect(await modelsOf(`user-${users}`)).toEqual([OLD])
    const [first] = running.filter((node) => node !== next)
    await roll(first!, 'during')
    expect(await begin()).toMatchObject({ from: OLD, to: NEW })
    await journey(isOld)
    expect((await at(next).verify({ user_id: 'early', image: adaToday, action })).body.verdict).toBe(
      'approved',
    )
    expect(await modelsOf('early')).toEqual([OLD, NEW])
    expect(await modelsOf(`user-${users}`)).toEqual([OLD, NEW])
  })

  it('the decision moves to and fro while all services take calls, each of which is decided by one pack', async () => {
    let isOver = false
    const answers: Array<{ verdict?: string; code?: string; model: string; score: number }> = []
    const keepCalling = async (node: Service, name: string) => {
      for (let i = 0; !isOver; i++) {
        const user_id = `${name}-${i}`
        const enrolled = await at(node).enroll({ user_id, image: ada })
        expect(enrolled.status).toBe(201)
        const [other] = running.filter((one) => one !== node)
        answers.push((await at(other!).verify({ user_id, image: adaToday, action })).body)
      }
    }
    const callers = running.map((node, i) => keepCalling(node, `moving-${i}`))
    for (const by of ['to', 'from', 'to', 'from', 'to', 'from', 'to'] as const) {
      const { length } = answers
      await expect.poll(() => answers.length).toBeGreaterThan(length + 2)
      await decide(by)
    }
    isOver = true
    await Promise.all(callers)
    expect(answers.filter(({ verdict }) => verdict !== 'approved')).toEqual([])
    // A comparison across packs scores under 0.1.
    expect(Math.min(...answers.map(({ score }) => score))).toBeGreaterThan(0.9)
    expect(new Set(answers.map(({ model }) => model))).toEqual(new Set([OLD, NEW]))
    await journey((model) => model === NEW)
  })

  it('a service that has not loaded the pack that decides refuses to decide and to enroll, and changes no user', async () => {
    const stale = await start('before')
    const api = at(stale)
    const user_id = `user-${users}`
    const before = await modelsOf(user_id)
    for (const answer of [
      await api.verify({ user_id, image: adaToday, action }),
      await api.enroll({ user_id, image: grace, replace: true }),
      await api.enroll({ user_id, image: adaToday, add: true }),
      await api.enroll({ user_id: 'nobody-yet', image: ada }),
      await api.call('POST', '/v1/challenges', { user_id, action }),
    ]) {
      expect(answer).toMatchObject({ status: 503, body: { code: 'engine_unavailable' } })
      expect(answer.body.message).toContain(NEW)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect(await modelsOf(user_id)).toEqual(before)
    expect((await api.call('GET', `/v1/users/${user_id}`)).body.reference).toMatchObject({
      comparable: true,
    })
    expect((await api.call('GET', '/v1/users/nobody-yet')).status).toBe(404)
    // No pack decides in the sandbox.
    const sandbox = apiClient(stale.url('sandbox'), tenant.sandboxKey)
    expect((await sandbox.verify({ user_id: 'u+match', image: ada, action })).body.verdict).toBe('approved')
    await expect(operations().models.finish(COMMAND_LINE)).rejects.toMatchObject({
      code: 'model_pack_not_served',
    })
    await stop(stale)
  })

  it('a reference that a service of the earlier configuration replaces takes the templates next to it along', async () => {
    const user_id = `user-${users}`
    await decide('from')
    const stale = await start('before')
    expect((await at(stale).verify({ user_id, image: adaToday, action })).body).toMatchObject({
      verdict: 'approved',
      model: OLD,
    })
    const other = running.find((node) => node !== stale)!
    expect((await at(other).enroll({ user_id, image: adaToday, replace: true })).status).toBe(201)
    expect(await modelsOf(user_id)).toEqual([OLD, NEW])
    expect((await at(stale).enroll({ user_id, image: grace, replace: true })).status).toBe(201)
    expect(await modelsOf(user_id)).toEqual([OLD])
    await stop(stale)
    await decide('to')
    // Ada's template of the new pack may not approve Ada as the user who is Grace now.
    for (const image of [ada, grace])
      expect((await at(other).verify({ user_id, image, action })).body.code).toBe('reference_model_mismatch')
    expect((await at(other).enroll({ user_id, image: grace, replace: true })).status).toBe(201)
    expect((await at(other).verify({ user_id, image: ada, action })).body.verdict).toBe('rejected')
  })

  it('the change ends while services name the packs in either order, and none of its users is lost', async () => {
    const [one, other] = running
    const next = await roll(one!, 'after')
    await journey((model) => model === NEW)
    await operations().models.finish(COMMAND_LINE)
    const migration = (await next.core.store.read.modelMigration())!
    const swept = await operations().modelSweep.sweep({
      ...migration,
      finishingAt: migration.finishingAt! - 120_000,
    })
    expect(swept.moved).toBeGreaterThan(0)
    expect(await next.core.store.read.modelMigration()).toBeUndefined()
    await journey((model) => model === NEW)
    await roll(other!, 'after')
    await journey((model) => model === NEW)
    for (let i = users; i > users - 4; i--) expect(await modelsOf(`user-${i}`)).toEqual([NEW])
  })
})
