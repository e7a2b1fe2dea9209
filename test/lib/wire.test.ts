/** Records as programs read them. */
import { expect, it } from 'vitest'
import { wire } from '../../src/lib/wire.js'

const RECORD = {
  id: 'key_1',
  idempotencyRecords: 3,
  createdAt: Date.UTC(2026, 0, 2),
  validUntil: null,
  signsFrom: Date.UTC(2026, 0, 3),
  from: 'model@1',
  atTime: 5,
  hash: 'left out',
}

it('names the asked fields in snake case, in the order in which they are asked for', () => {
  const shown = wire(RECORD, 'idempotencyRecords', 'id', 'from', 'atTime')
  expect(JSON.stringify(shown)).toBe('{"idempotency_records":3,"id":"key_1","from":"model@1","at_time":5}')
})

it('shows fields that end in At, Until or From as times, and leaves null as it is', () => {
  expect(wire(RECORD, 'createdAt', 'validUntil', 'signsFrom')).toEqual({
    created_at: '2026-01-02T00:00:00.000Z',
    valid_until: null,
    signs_from: '2026-01-03T00:00:00.000Z',
  })
})
