/** Tests of the request log in every store: found by each of its ids, trimmed to its length, and without erased users. */
import { describe, expect, it } from 'vitest'
import {
  type RequestRecord,
  requestReader,
  requestWriter,
} from '../../../../src/features/insight/requests/request-table.js'
import { insertUser, subject, tenant } from '../../../support/records.js'
import { overStores } from '../../../support/stores.js'

function request(id: number, changes: Partial<RequestRecord> = {}): RequestRecord {
  return {
    requestId: `01a20000-0000-7000-8000-${id.toString().padStart(12, '0')}`,
    tenantId: 'ten_a',
    environment: 'production',
    endpoint: 'verify',
    status: 200,
    code: null,
    verdict: 'approved',
    isReplay: 0,
    durationMs: 12.5,
    keyId: 'key_1',
    address: '192.0.2.1',
    clientRequestId: null,
    verificationId: null,
    subject: null,
    sandboxUser: null,
    ...changes,
  }
}

overStores((stores) => {
  const requests = () => stores.read().statements(requestReader)
  const writing = stores.writing(requestWriter)
  const { write } = stores
  const insert = (...records: RequestRecord[]) =>
    write(async (tx) => {
      for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
      for (const record of records) await tx.statements(requestWriter).insert(record)
    })
  const listing = { tenantId: 'ten_a', environment: 'production', from: '', before: 'g', limit: 10 } as const
  const ids = (records: RequestRecord[]) => records.map(({ requestId }) => Number(requestId.slice(-12)))
  const list = async (changes = {}) => ids(await requests().list({ ...listing, ...changes }))

  describe('the request log', () => {
    it('returns entries newest first, and stores an entry once', async () => {
      const [one, two] = [
        request(1),
        request(2, { status: 422, code: 'face_not_found', verdict: null, subject: 'p' }),
      ]
      await insert(one, two, { ...one, status: 500 })
      expect(await requests().list(listing)).toEqual([two, one])
    })

    it('is listed by environment, code, user and time', async () => {
      await insert(
        request(1),
        request(2, { code: 'a' }),
        request(3, { code: 'a', subject: 'p' }),
        request(4, { environment: 'sandbox', code: 'a' }),
        request(5, { tenantId: 'ten_b', code: 'a', subject: 'p' }),
      )
      expect(await list()).toEqual([3, 2, 1])
      expect(await list({ limit: 2 })).toEqual([3, 2])
      expect(await list({ code: 'a' })).toEqual([3, 2])
      expect(await list({ subject: 'p' })).toEqual([3])
      expect(await list({ environment: 'sandbox' })).toEqual([4])
      expect(await list({ from: request(2).requestId, before: request(3).requestId })).toEqual([2])
    })

    it('is found by request id, client request id and verification id, of one tenant', async () => {
      await insert(
        request(1, { clientRequestId: 'x' }),
        request(2, { verificationId: 'x', environment: 'sandbox' }),
        request(3, { tenantId: 'ten_b', verificationId: 'x' }),
      )
      const named = async (id: string) => ids(await requests().named('ten_a', id, 10))
      expect(await named('x')).toEqual([2, 1])
      expect(await named(request(1).requestId)).toEqual([1])
      expect(await named(request(3).requestId)).toEqual([])
    })

    it('is trimmed to the newest entries with a code and the newest without', async () => {
      await insert(
        ...[1, 2, 3].map((id) => request(id)),
        ...[4, 5, 6].map((id) => request(id, { code: 'a' })),
        request(7, { environment: 'sandbox' }),
      )
      await writing.trim('ten_a', 'production', 2)
      expect(await list()).toEqual([6, 5, 3, 2])
      await writing.trim('ten_a', 'production', 5)
      expect(await list()).toEqual([6, 5, 3, 2])
      expect(await list({ environment: 'sandbox' })).toEqual([7])
    })

    it('deletes its oldest entries, a limited number at a time', async () => {
      await insert(request(1), request(2), request(3))
      expect(await writing.deleteBefore(request(3).requestId, 1)).toBe(1)
      expect(await list()).toEqual([3, 2])
      expect(await writing.deleteBefore(request(3).requestId, 10)).toBe(1)
      expect(await list()).toEqual([3])
    })

    it('names no erased user, and is deleted with its tenant', async () => {
      const { blindIndex } = subject('ada', { environment: 'sandbox' })
      const named = {
        environment: 'sandbox',
        subject: blindIndex.toString('hex'),
        sandboxUser: 'ada',
      } as const
      await insert(request(1, named), request(2, { tenantId: 'ten_b' }))
      await write((tx) => insertUser(tx, 'ada', 1))
      await write((tx) => tx.eraseSubject(blindIndex))
      const [left] = await requests().list({ ...listing, environment: 'sandbox' })
      expect(left).toMatchObject({ subject: null, sandboxUser: null })
      await write((tx) => tx.closeTenant('ten_a', 1))
      expect(await list({ environment: 'sandbox' })).toEqual([])
      expect(await list({ tenantId: 'ten_b' })).toEqual([2])
    })
  })
})
