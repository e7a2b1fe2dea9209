/** Tests of how every store keeps the keys of public verdicts. */
import { expect, it } from 'vitest'
import {
  verdictKeyReader,
  verdictKeyWriter,
} from '../../../src/features/public-verdicts/verdict-key-table.js'
import { AT, verdictKey } from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores(({ read, write }) => {
  const all = () => read().statements(verdictKeyReader).all()

  it('keeps the verdict keys of both environments in the order in which they begin to sign', async () => {
    const late = verdictKey('vky_a', { signsFrom: AT + 2 })
    const early = verdictKey('vky_b', { signsFrom: AT + 1 })
    const sandbox = verdictKey('vky_c', { environment: 'sandbox' })
    await write(async (tx) => {
      for (const key of [late, early, sandbox]) await tx.statements(verdictKeyWriter).insert(key)
    })
    expect(await all()).toEqual([sandbox, early, late])
    await write((tx) => tx.statements(verdictKeyWriter).setEnd('vky_b', AT + 9))
    expect(await all()).toEqual([sandbox, { ...early, goneAt: AT + 9 }, late])
    await write((tx) => tx.deleteSealed('verdict_key', 'vky_b'))
    expect(await all()).toEqual([sandbox, late])
  })

  it('deletes a verdict key at its end, and keeps one without an end', async () => {
    await write(async (tx) => {
      const table = tx.statements(verdictKeyWriter)
      await table.insert(verdictKey('ended', { goneAt: AT }))
      await table.insert(verdictKey('retired', { goneAt: AT + 1 }))
      await table.insert(verdictKey('signing'))
      await tx.deleteExpired(AT)
    })
    expect((await all()).map(({ id }) => id)).toEqual(['retired', 'signing'])
  })
})
