/** Tests of counted traffic in every store. */
import { describe, expect, it } from 'vitest'
import {
  type TrafficResolution,
  trafficReader,
  trafficWriter,
} from '../../../../src/features/insight/traffic/traffic-table.js'
import { DAY_MS, HOUR_MS } from '../../../../src/lib/clock.js'
import { AT } from '../../../support/records.js'
import { overStores } from '../../../support/stores.js'

overStores((stores) => {
  const traffic = () => stores.read().statements(trafficReader)
  const writing = stores.writing(trafficWriter)
  const { write } = stores
  const put = (at: number, counts = '{}', resolution: TrafficResolution = 'minute', tenantId = 'ten_a') =>
    writing.put({ tenantId, resolution, at, counts })
  const fill = () => stores.insert({ tenants: ['a', 'b'] })

  describe('counted traffic', () => {
    it('is listed from a time on (inclusive), oldest first, and replaced for the same interval', async () => {
      await fill()
      await put(AT + 2, '{"n":3}')
      await put(AT, '{"n":1}')
      await put(AT + 1, '{"n":2}')
      await put(AT + 1, '{"n":20}')
      await put(AT + 1, '{"n":5}', 'hour')
      await put(AT + 1, '{"n":6}', 'minute', 'ten_b')
      const listed = async (since: number) =>
        (await traffic().since('ten_a', 'minute', since)).map(({ counts }) => counts)
      expect(await listed(0)).toEqual(['{"n":1}', '{"n":20}', '{"n":3}'])
      expect(await listed(AT + 1)).toEqual(['{"n":20}', '{"n":3}'])
      expect(await traffic().at('ten_a', 'hour', AT + 1)).toEqual({
        tenantId: 'ten_a',
        resolution: 'hour',
        at: AT + 1,
        counts: '{"n":5}',
      })
      expect(await traffic().at('ten_a', 'hour', AT)).toBeUndefined()
    })

    it('adds up when two connections count 32 times at once', async () => {
      await fill()
      const at = { tenantId: 'ten_a', resolution: 'minute', at: AT } as const
      await stores.atOnce(32, async (tx) => {
        const rows = tx.statements(trafficWriter)
        const present = await rows.at(at.tenantId, at.resolution, at.at)
        await rows.put({ ...at, counts: `${Number(present?.counts ?? 0) + 1}` })
      })
      expect((await traffic().at('ten_a', 'minute', AT))?.counts).toBe('32')
    })

    it('keeps minutes for two hours and hours for eight days', async () => {
      await fill()
      for (const resolution of ['minute', 'hour'] as const)
        for (const keptMs of [8 * DAY_MS, 8 * DAY_MS - 1, 2 * HOUR_MS, 2 * HOUR_MS - 1])
          await put(AT - keptMs, '{}', resolution)
      await write((tx) => tx.deleteExpired(AT))
      const left = async (resolution: TrafficResolution) =>
        (await traffic().since('ten_a', resolution, 0)).map(({ at }) => AT - at)
      expect(await left('minute')).toEqual([2 * HOUR_MS - 1])
      expect(await left('hour')).toEqual([8 * DAY_MS - 1, 2 * HOUR_MS, 2 * HOUR_MS - 1])
    })

    it('is deleted with its tenant', async () => {
      await fill()
      for (const tenantId of ['ten_a', 'ten_b']) await put(AT, '{}', 'hour', tenantId)
      await write((tx) => tx.closeTenant('ten_a', AT))
      expect(await traffic().since('ten_a', 'hour', 0)).toEqual([])
      expect(await traffic().since('ten_b', 'hour', 0)).toHaveLength(1)
    })
  })
})
