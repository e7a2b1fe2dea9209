/** Tests of how every store keeps templates next to references, and the change from one model pack to another. */
import { describe, expect, it } from 'vitest'
import type { ModelMigrationRecord } from '../../../src/storage/records.js'
import { AT, bytes, followingReference, reference, subject } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const MIGRATION: ModelMigrationRecord = {
  ...{ from: 'm@1', to: 'm@2', startedAt: AT, strictFmr: 1e-6, atCoverage: 0.95 },
  ...{ atTime: AT + 1, finishingAt: null },
}

overStores((stores) => {
  const { read, write, insert } = stores
  const enrolled = (...names: string[]) => insert({ tenants: ['a'], subjects: names, references: names })
  const following = async (name = 'ada') => (await read().subject(bytes(name)))?.following

  describe('a template next to a reference', () => {
    it('is read with the user, and the next one of its model replaces it', async () => {
      await enrolled('ada', 'eve')
      const other = followingReference('other', { referenceId: 'ref_ada', model: 'm@3' })
      await write(async (tx) => {
        expect(await tx.putFollowingReference(followingReference())).toBe(true)
        expect(await tx.putFollowingReference(other)).toBe(true)
      })
      expect(await following()).toEqual(expect.arrayContaining([followingReference(), other]))
      expect(await following('eve')).toEqual([])
      const next = followingReference('next', { referenceId: 'ref_ada', sealed: bytes('next') })
      await write((tx) => tx.putFollowingReference(next))
      expect(await following()).toEqual(expect.arrayContaining([next, other]))
      expect(await following()).toHaveLength(2)
    })

    it('takes its reference out of the count of references of other models', async () => {
      await enrolled('ada', 'eve')
      const { model } = reference('ada')
      const counted = (pattern: string) => read().referenceModels('production', pattern)
      const next = followingReference('next', { referenceId: 'ref_ada', model: 'next@2.0.0' })
      await write((tx) => tx.putFollowingReference(next))
      expect(await counted('next@1.0.0')).toEqual([{ model, amount: 2 }])
      for (const pattern of ['next@2.0.0', 'next@%'])
        expect(await counted(pattern)).toEqual([{ model, amount: 1 }])
    })

    it('goes with the reference that is replaced, also where SQL of an earlier version replaces it', async () => {
      await enrolled('ada', 'eve')
      await insert({ following: [followingReference(), followingReference('eve')] })
      await write((tx) => tx.putReference(reference('ada', { id: 'ref_next' })))
      expect(await following()).toEqual([])
      expect(await following('eve')).toEqual([followingReference('eve')])
      const keysOn = stores.kind === 'sqlite' ? 'PRAGMA foreign_keys = ON;' : ''
      await stores.execute(`${keysOn} DELETE FROM reference WHERE subject_id = 'sub_eve'`)
      expect(await following('eve')).toEqual([])
    })

    it('is not written next to a reference that is gone, or for a tenant whose models have changed', async () => {
      await enrolled('ada')
      const models = '{"deciding":"m@1","following":"m@2"}'
      const put = (only: { tenantId: string; models: string }, referenceId = 'ref_ada') =>
        write((tx) => tx.putFollowingReference(followingReference('ada', { referenceId }), only))
      expect(await put({ tenantId: 'ten_a', models })).toBe(false)
      await write((tx) => tx.setTenantModels('ten_a', models))
      expect(await put({ tenantId: 'ten_a', models }, 'ref_gone')).toBe(false)
      expect(await put({ tenantId: 'ten_a', models: '{}' })).toBe(false)
      expect(await following()).toEqual([])
      expect(await put({ tenantId: 'ten_a', models })).toBe(true)
      expect(await following()).toEqual([followingReference()])
      expect((await read().tenantById('ten_a'))?.models).toBe(models)
      await write((tx) => tx.setTenantModels('ten_a', null))
      expect((await read().tenantById('ten_a'))?.models).toBeNull()
    })

    it('is erased and counted with its user', async () => {
      await enrolled('ada')
      await write((tx) => tx.putFollowingReference(followingReference()))
      expect(await write((tx) => tx.eraseSubject(bytes('ada')))).toMatchObject({ references: 2 })
    })

    it('replaces the content of the reference, whose id and time stay', async () => {
      await enrolled('ada')
      await insert({ following: [followingReference()] })
      await write((tx) => tx.replaceTemplate({ id: 'ref_ada', model: 'm@2', sealed: bytes('sealed again') }))
      expect(await read().subject(bytes('ada'))).toMatchObject({
        reference: reference('ada', { model: 'm@2', sealed: bytes('sealed again') }),
        following: [],
      })
    })

    it('is deleted with others of its model, some at a time', async () => {
      const names = Array.from({ length: 251 }, (_, i) => `user-${i}`)
      await enrolled(...names)
      const kept = followingReference('kept', { referenceId: 'ref_user-0', model: 'm@3' })
      await insert({ following: [...names.map((name) => followingReference(name)), kept] })
      const remove = () => write((tx) => tx.deleteFollowingReferences('m@2'))
      expect([await remove(), await remove(), await remove()]).toEqual([250, 1, 0])
      expect(await following('user-0')).toMatchObject([{ model: 'm@3' }])
    })
  })

  describe('the coverage of a model', () => {
    it('counts references and templates next to them, in production, tenant by tenant', async () => {
      await enrolled('ada', 'eve', 'bob')
      await insert({
        tenants: ['b'],
        subjects: [subject('theirs', { tenantId: 'ten_b' }), subject('sam', { environment: 'sandbox' })],
        references: [reference('theirs', { model: 'm@2' }), 'sam'],
        following: [
          followingReference('ada', { createdAt: AT + 5 }),
          followingReference('eve', { createdAt: AT - 5 }),
        ],
      })
      expect(await read().modelCoverage('m@2', AT)).toEqual([
        { tenantId: 'ten_a', users: 3, covered: 2, recent: 1 },
        { tenantId: 'ten_b', users: 1, covered: 1, recent: 0 },
      ])
      expect(await read().modelCoverage('m@1', AT)).toMatchObject([{ covered: 3 }, { covered: 0 }])
    })

    it('lists the references that a model made, page by page', async () => {
      await enrolled('ada', 'bob', 'eve')
      await write((tx) => tx.putReference(reference('bob', { model: 'm@2' })))
      const page = (after: string) => read().referencesMadeBy('m@1', after, 1)
      const ada = { blindIndex: bytes('ada'), tenantId: 'ten_a', referenceId: 'ref_ada' }
      expect(await page('')).toEqual([ada])
      expect(await page('ref_ada')).toMatchObject([{ referenceId: 'ref_eve' }])
      expect(await page('ref_eve')).toEqual([])
    })
  })

  it('the change of the model pack is one, which the next one replaces, and can be ended', async () => {
    expect(await read().modelMigration()).toBeUndefined()
    await write((tx) => tx.putModelMigration(MIGRATION))
    expect(await read().modelMigration()).toEqual(MIGRATION)
    const next = { ...MIGRATION, strictFmr: null, atCoverage: null, atTime: null, finishingAt: AT }
    await write((tx) => tx.putModelMigration(next))
    expect(await read().modelMigration()).toEqual(next)
    await write((tx) => tx.putModelMigration(null))
    expect(await read().modelMigration()).toBeUndefined()
  })
})
