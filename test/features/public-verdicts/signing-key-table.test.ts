/** Tests of how every store keeps keys that are published before they sign, by those of public verdicts. */
import { expect, it } from 'vitest'
import { VERDICT_KEYS } from '../../../src/features/public-verdicts/signing-key-table.js'
import { AT, verdictKey } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores(({ read, write }) => {
  const all = () => read().statements(VERDICT_KEYS.reader).all()

  it('keeps the verdict keys of both environments in the order in which they begin to sign', async () => {
    const late = verdictKey('vky_a', { signsFrom: AT + 2 })
    const early = verdictKey('vky_b', { signsFrom: AT + 1 })
    const sandbox = verdictKey('vky_c', { environment: 'sandbox' })
    await write(async (tx) => {
      for (const key of [late, early, sandbox]) await tx.statements(VERDICT_KEYS.writer).insert(key)
    })
    expect(await all()).toEqual([sandbox, early, late])
    await write((tx) => tx.statements(VERDICT_KEYS.writer).setEnd('vky_b', AT + 9))
    expect(await all()).toEqual([sandbox, { ...early, goneAt: AT + 9 }, late])
    await write((tx) => tx.deleteSealed('verdict_key', 'vky_b'))
    expect(await all()).toEqual([sandbox, late])
  })

  it('deletes a verdict key at its end, and keeps one without an end', async () => {
    await write(async (tx) => {
      const table = tx.statements(VERDICT_KEYS.writer)
      await table.insert(verdictKey('ended', { goneAt: AT }))
      await table.insert(verdictKey('retired', { goneAt: AT + 1 }))
      await table.insert(verdictKey('signing'))
      await tx.deleteExpired(AT)
    })
    expect((await all()).map(({ id }) => id)).toEqual(['retired', 'signing'])
  })
})
