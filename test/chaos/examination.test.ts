import { beforeEach, expect, it } from 'vitest'
import { compare, type Entry } from './examination.js'
import { Journal } from './journal.js'

const tenant = { id: 'ten_1', name: 'acme', keys: { production: '', sandbox: '' } }
const enrolled = (id: string): Entry => ({ event: 'enroll', status: 201, reference_id: id })
let journal: Journal
beforeEach(() => {
  journal = new Journal()
  journal.acknowledge(tenant, 'production', 'enroll', 'ref_1')
})
const counts = () => [journal.lost.length, journal.executedTwice.length, journal.broken.length]

it('accepts a log that has every effect once, and receipts that were replayed', () => {
  journal.acknowledge(tenant, 'production', 'delete', 'era_1')
  const erased = { event: 'delete', status: 200, erasure_id: 'era_1' }
  compare(tenant, [enrolled('ref_1'), erased, { ...erased, repeated: true }], journal)
  expect(counts()).toEqual([0, 0, 0])
})

it('reports acknowledged effects that are missing in the log', () => {
  compare(tenant, [], journal)
  expect(counts()).toEqual([1, 0, 0])
})

it.each([
  ['is there twice', [enrolled('ref_1'), enrolled('ref_1')]],
  ['no caller was told of', [enrolled('ref_1'), enrolled('ref_2')]],
])('reports an effect that %s', (_, entries) => {
  compare(tenant, entries, journal)
  expect(counts()).toEqual([0, 1, 0])
})

it('reports a refusal without a reason, and a lockout that ended without an entry', () => {
  journal.unlocked.set(tenant.id, 1)
  const refused = { event: 'enroll', status: 409, code: 'already_enrolled' }
  compare(tenant, [enrolled('ref_1'), refused], journal)
  expect(counts()).toEqual([1, 0, 1])
})
