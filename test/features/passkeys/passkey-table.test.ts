/** Tests of how every store keeps passkeys: in their order, each credential once, and gone with their user. */
import { describe, expect, it } from 'vitest'
import {
  type PasskeyRecord,
  passkeyReader,
  passkeyWriter,
} from '../../../src/features/passkeys/passkey-table.js'
import { isoTime } from '../../../src/lib/clock.js'
import { AT, bytes } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const passkey = (id: string, changes: Partial<PasskeyRecord> = {}): PasskeyRecord => ({
  ...{ id, subjectId: 'sub_ada', lookup: bytes(`credential ${id}`), sealed: bytes(`sealed ${id}`) },
  ...{ createdAt: AT, lastUsedAt: null },
  ...changes,
})

overStores((stores) => {
  const writing = stores.writing(passkeyWriter)
  const of = (subjectId: string) => stores.store.read.statements(passkeyReader).of(subjectId)
  const { write } = stores
  const enrolled = () => stores.insert({ tenants: ['a'], subjects: ['ada', 'eve'] })

  describe('passkeys', () => {
    it('are returned as they were written, oldest first, each user’s own', async () => {
      await enrolled()
      const [second, first] = [passkey('psk_1', { createdAt: AT + 1 }), passkey('psk_2')]
      const other = passkey('psk_3', { subjectId: 'sub_eve' })
      for (const one of [second, first, other]) expect(await writing.insert(one)).toBe(true)
      expect(await of('sub_ada')).toEqual([first, second])
      expect(await of('sub_eve')).toEqual([other])
      const counts = ['sub_ada', 'sub_none'].map((id) => stores.store.read.credentialsOf(id))
      expect(await Promise.all(counts)).toEqual([{ passkeys: 2 }, { passkeys: 0 }])
      const { passkeys } = await stores.store.read.exportOf('sub_ada', bytes('a data key'))
      expect(passkeys).toEqual([
        { passkey_id: 'psk_2', created_at: isoTime(AT), last_used_at: null },
        { passkey_id: 'psk_1', created_at: isoTime(AT + 1), last_used_at: null },
      ])
    })

    it('are refused for a credential that is registered for another user too', async () => {
      await enrolled()
      await writing.insert(passkey('psk_1'))
      const again = passkey('psk_2', { subjectId: 'sub_eve', lookup: passkey('psk_1').lookup })
      expect(await writing.insert(again)).toBe(false)
      expect(await of('sub_eve')).toEqual([])
    })

    it('take one of many registrations of a credential at once, even over two connections', async () => {
      await enrolled()
      const credential = (i: number) => passkey(`psk_${i}`, { lookup: bytes('one credential') })
      const made = await stores.atOnce(
        16,
        (tx, i) => tx.statements(passkeyWriter).insert(credential(i)),
        'rows',
      )
      expect(made.filter(Boolean)).toHaveLength(1)
      expect(await of('sub_ada')).toEqual([credential(made.indexOf(true))])
    })

    it('keep their last use, and nothing else changes', async () => {
      await enrolled()
      for (const id of ['psk_1', 'psk_2']) await writing.insert(passkey(id))
      await writing.noteUse({ id: 'psk_1', sealed: bytes('counter 7'), lastUsedAt: AT + 5 })
      expect(await of('sub_ada')).toEqual([
        passkey('psk_1', { sealed: bytes('counter 7'), lastUsedAt: AT + 5 }),
        passkey('psk_2'),
      ])
    })

    it('are deleted one by one by their own user only, and all with their user', async () => {
      await enrolled()
      for (const id of ['psk_1', 'psk_2']) await writing.insert(passkey(id))
      await writing.insert(passkey('psk_3', { subjectId: 'sub_eve' }))
      expect(await writing.delete('sub_eve', 'psk_1')).toBe(false)
      expect(await writing.delete('sub_ada', 'psk_1')).toBe(true)
      expect(await writing.delete('sub_ada', 'psk_1')).toBe(false)
      expect(await of('sub_ada')).toEqual([passkey('psk_2')])
      expect(await write((tx) => tx.eraseSubject(bytes('ada')))).toMatchObject({ passkeys: 1 })
      expect(await of('sub_ada')).toEqual([])
      expect(await of('sub_eve')).toHaveLength(1)
    })
  })
})
