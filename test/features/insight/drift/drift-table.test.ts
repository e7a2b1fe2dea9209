/** Tests of counted verifies in every store. */
import { describe, expect, it } from 'vitest'
import {
  type DriftRecord,
  driftReader,
  driftWriter,
} from '../../../../src/features/insight/drift/drift-table.js'
import { DAY_MS } from '../../../../src/lib/clock.js'
import { AT, tenant } from '../../../support/records.js'
import { overStores } from '../../../support/stores.js'

overStores((stores) => {
  const drift = () => stores.store.read.statements(driftReader)
  const { write } = stores
  const row = (at: number, changes: Partial<DriftRecord> = {}): DriftRecord => ({
    ...{ tenantId: 'ten_a', model: 'm@1', at, counts: '{}', blocks: null },
    ...changes,
  })
  const put = (...rows: DriftRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b'])
        if (!(await tx.tenantById(`ten_${name}`))) await tx.insertTenant(tenant(name))
      for (const one of rows) await tx.statements(driftWriter).put(one)
    })

  describe('counted verifies', () => {
    it('are listed from a time on (inclusive), by model and then oldest first', async () => {
      const other = row(AT, { model: 'a@1' })
      await put(row(AT + 2), row(AT), row(AT + 1), other, row(AT, { tenantId: 'ten_b' }))
      expect(await drift().since('ten_a', 0)).toEqual([other, row(AT), row(AT + 1), row(AT + 2)])
      expect(await drift().since('ten_a', AT + 1)).toEqual([row(AT + 1), row(AT + 2)])
    })

    it('are replaced by a row of the same tenant, model and time', async () => {
      await put(row(AT), row(AT, { counts: '{"n":2}', blocks: '[]' }))
      expect(await drift().at('ten_a', 'm@1', AT)).toEqual(row(AT, { counts: '{"n":2}', blocks: '[]' }))
      expect(await drift().at('ten_a', 'm@2', AT)).toBeUndefined()
    })

    it('have a newest row for each tenant and model', async () => {
      await put(row(AT), row(AT + 5), row(AT + 9, { model: 'a@1' }), row(AT + 9, { tenantId: 'ten_b' }))
      expect(await drift().newest('ten_a', 'm@1')).toEqual(row(AT + 5))
      expect(await drift().newest('ten_a', 'm@2')).toBeUndefined()
    })

    it('list the rows with blocks of all tenants but the deleted ones', async () => {
      const blocks = '[]'
      await put(row(AT), row(AT + 5, { blocks }), row(AT, { tenantId: 'ten_b', blocks }))
      expect(await drift().newestOfAll()).toEqual([
        row(AT + 5, { blocks }),
        row(AT, { tenantId: 'ten_b', blocks }),
      ])
      await write((tx) => tx.closeTenant('ten_b', AT))
      expect(await drift().newestOfAll()).toEqual([row(AT + 5, { blocks })])
    })

    it('are deleted with their tenant, and after 100 days', async () => {
      const keptMs = 100 * DAY_MS
      await put(row(AT - keptMs), row(AT - keptMs + 1), row(AT, { tenantId: 'ten_b' }))
      await write((tx) => tx.deleteExpired(AT))
      expect(await drift().since('ten_a', 0)).toEqual([row(AT - keptMs + 1)])
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect(await drift().since('ten_a', 0)).toEqual([])
      expect(await drift().since('ten_b', 0)).toHaveLength(1)
    })
  })
})
