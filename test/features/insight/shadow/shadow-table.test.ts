/** Tests of a candidate's counts in every store. */
import { describe, expect, it } from 'vitest'
import {
  type ShadowRecord,
  shadowReader,
  shadowWriter,
} from '../../../../src/features/insight/shadow/shadow-table.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { AT, tenant } from '../../../support/records.js'
import { overStores } from '../../../support/stores.js'

overStores((stores) => {
  const counts = () => stores.store.read.statements(shadowReader)
  const row = (at: number, changes: Partial<ShadowRecord> = {}): ShadowRecord => ({
    ...{ tenantId: 'ten_a', model: 'm@1', candidate: 'FMR 1e-05', at, counts: '{}' },
    ...changes,
  })
  const { write } = stores
  const put = (...rows: ShadowRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b'])
        if (!(await tx.tenantById(`ten_${name}`))) await tx.insertTenant(tenant(name))
      for (const one of rows) await tx.statements(shadowWriter).put(one)
    })

  describe('counts of a candidate', () => {
    it('are listed from a time on (inclusive), oldest first, then by model and candidate', async () => {
      const [model, candidate] = [row(AT, { model: 'a@1' }), row(AT, { candidate: 'FMR 1e-06' })]
      await put(row(AT + 1), candidate, row(AT), model, row(AT, { tenantId: 'ten_b' }))
      expect(await counts().since('ten_a', 0)).toEqual([model, row(AT), candidate, row(AT + 1)])
      expect(await counts().since('ten_a', AT + 1)).toEqual([row(AT + 1)])
    })

    it('are replaced by a row of the same tenant, model, candidate and time', async () => {
      await put(row(AT), row(AT, { counts: '{"n":2}' }))
      expect(await counts().at(row(AT))).toEqual(row(AT, { counts: '{"n":2}' }))
      for (const other of [{ tenantId: 'ten_b' }, { model: 'm@2' }, { candidate: 'x' }, { at: AT + 1 }])
        expect(await counts().at(row(AT, other))).toBeUndefined()
    })

    it('are deleted with their tenant, and after 100 days', async () => {
      const keptMs = 100 * DAY_MS
      await put(row(AT - keptMs), row(AT - keptMs + 1), row(AT, { tenantId: 'ten_b' }))
      await write((tx) => tx.deleteExpired(AT))
      expect(await counts().since('ten_a', 0)).toEqual([row(AT - keptMs + 1)])
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect(await counts().since('ten_a', 0)).toEqual([])
      expect(await counts().since('ten_b', 0)).toHaveLength(1)
    })
  })
})
