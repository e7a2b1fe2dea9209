/** Tests of how every store keeps aged templates. */

import { describe, expect, it } from 'vitest'
import {
  agedReferenceReader,
  agedReferenceWriter,
} from '../../../src/features/learning-references/aged-references.js'
import type { AgedReferenceRecord } from '../../../src/storage/records.js'
import {
  AT,
  agedReference,
  bytes,
  followingReference,
  reference,
  subject,
  tenant,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const read = () => stores.store.read
  const { write } = stores
  const enrolled = (...names: string[]) =>
    write(async (tx) => {
      await tx.insertTenant(tenant('a'))
      for (const name of names) {
        await tx.insertSubject(subject(name))
        await tx.putReference(reference(name))
      }
    })
  const put = (aged: AgedReferenceRecord, before: string | null = null) =>
    write((tx) => tx.statements(agedReferenceWriter).put(aged, before))
  const aged = async (name = 'ada') => (await read().subject(bytes(name)))?.aged
  const next = agedReference('ada', { id: 'aged_next', sealed: bytes('next'), createdAt: AT + 1 })

  describe('an aged template', () => {
    it('is read together with the user and templates of other models', async () => {
      await enrolled('ada', 'eve')
      expect(await aged()).toBeNull()
      expect(await put(agedReference())).toBe(true)
      for (const model of ['m@2', 'm@3'])
        await write((tx) =>
          tx.putFollowingReference(followingReference(model, { referenceId: 'ref_ada', model })),
        )
      const user = await read().subject(bytes('ada'))
      expect(user).toMatchObject({ reference: reference('ada'), aged: agedReference() })
      expect(user?.following).toHaveLength(2)
      expect(await aged('eve')).toBeNull()
    })

    it('is replaced only by one that was made of it', async () => {
      await enrolled('ada')
      expect(await put(next, 'aged_ada')).toBe(false)
      expect(await aged()).toBeNull()
      await put(agedReference())
      expect(await put(next)).toBe(false)
      expect(await put(next, 'aged_of_before')).toBe(false)
      expect(await aged()).toEqual(agedReference())
      expect(await put(next, 'aged_ada')).toBe(true)
      expect(await aged()).toEqual(next)
    })

    it('is not written next to a reference that is gone, or of another model', async () => {
      await enrolled('ada')
      expect(await put(agedReference('ada', { referenceId: 'ref_gone' }))).toBe(false)
      expect(await put(agedReference('ada', { model: 'm@2' }))).toBe(false)
      await put(agedReference())
      expect(await put({ ...next, model: 'm@2' }, 'aged_ada')).toBe(false)
      expect(await aged()).toEqual(agedReference())
    })

    it('goes with the reference that is replaced, also where SQL of an earlier version replaces it', async () => {
      await enrolled('ada', 'eve')
      await put(agedReference())
      await put(agedReference('eve'))
      await write((tx) => tx.putReference(reference('ada', { id: 'ref_next' })))
      expect(await aged()).toBeNull()
      expect(await aged('eve')).toEqual(agedReference('eve'))
      const keysOn = stores.kind === 'sqlite' ? 'PRAGMA foreign_keys = ON;' : ''
      await stores.execute(`${keysOn} DELETE FROM reference WHERE subject_id = 'sub_eve'`)
      expect(await aged('eve')).toBeNull()
    })

    it('goes when the reference gets the content of another model', async () => {
      await enrolled('ada')
      await put(agedReference())
      await write((tx) => tx.replaceTemplate({ id: 'ref_ada', model: 'm@2', sealed: bytes('moved') }))
      expect(await aged()).toBeNull()
    })

    it('is erased and counted with its user', async () => {
      await enrolled('ada')
      await put(agedReference())
      expect(await write((tx) => tx.eraseSubject(bytes('ada')))).toMatchObject({ references: 2 })
    })

    it('is counted and deleted by tenant, some at a time, or for one user', async () => {
      const names = Array.from({ length: 252 }, (_, i) => `user-${i}`)
      await enrolled(...names)
      await write(async (tx) => {
        await tx.insertTenant(tenant('b'))
        await tx.insertSubject(subject('theirs', { tenantId: 'ten_b' }))
        await tx.putReference(reference('theirs'))
        for (const name of [...names, 'theirs'])
          await tx.statements(agedReferenceWriter).put(agedReference(name), null)
      })
      const remove = (user: string | null = null) =>
        write((tx) => tx.statements(agedReferenceWriter).delete('ten_a', user))
      expect(await read().statements(agedReferenceReader).count('ten_a')).toBe(252)
      expect(await remove('sub_theirs')).toBe(0)
      expect(await remove('sub_user-0')).toBe(1)
      expect(await aged('user-0')).toBeNull()
      expect([await remove(), await remove(), await remove()]).toEqual([250, 1, 0])
      expect(await read().statements(agedReferenceReader).count('ten_a')).toBe(0)
      expect(await aged('theirs')).toEqual(agedReference('theirs'))
    })
  })
})
