/** Tests of users in every store: references, captures, challenges, kept responses, and their erasure. */

import { describe, expect, it } from 'vitest'
import { challengeReader } from '../../../src/features/challenges/table/exports.js'
import { policyWriter } from '../../../src/features/policies/policy-table.js'
import { webhookReader } from '../../../src/features/webhooks/webhook-tables.js'
import { AlreadyExecutedError } from '../../../src/storage/store.js'
import {
  AT,
  bytes,
  capture,
  capturesAfter,
  challenge,
  DELIVERED,
  delivery,
  endpoint,
  erasure,
  hasCapture,
  insertUser,
  keptResponse,
  newestCaptures,
  reference,
  subject,
  tenant,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

overStores((stores) => {
  const webhooks = () => stores.read().statements(webhookReader)
  const challenges = () => stores.read().statements(challengeReader)
  const { read, write, insert } = stores

  describe('a user', () => {
    it('is found by the blind index, with a reference or null, and is undefined for an unknown one', async () => {
      const full = subject('full', { failures: 3, lockedUntil: AT + 1, disabledAt: AT + 2 })
      const ada = { subject: subject('ada'), reference: reference('ada') }
      await insert({ tenants: ['a'], subjects: [full, 'ada'], references: ['ada'] })
      const none = { following: [], aged: null }
      expect(await read().subject(bytes('full'))).toEqual({ subject: full, reference: null, ...none })
      expect(await read().subject(bytes('ada'))).toEqual({ ...ada, ...none })
      expect(await read().subject(bytes('nobody'))).toBeUndefined()
      expect(await read().subjectWithoutReference(bytes('full'))).toEqual(full)
      expect(await read().subjectWithoutReference(bytes('ada'))).toEqual(subject('ada'))
      expect(await read().subjectWithoutReference(bytes('nobody'))).toBeUndefined()
    })

    it('is read before a verdict with lockout, captures and the hash of the policy in force', async () => {
      const lockout = { failures: 3, lockedUntil: AT + 1, disabledAt: AT + 2 }
      const [box, out] = [subject('box', { environment: 'sandbox' }), subject('out', { tenantId: 'ten_b' })]
      const subjects = [subject('ada', lockout), box, out]
      await insert({ tenants: ['a', 'b'], subjects, captures: [capture('seen')] })
      const policies = stores.writing(policyWriter)
      await policies.putInForce('ten_a', 'production', '01')
      await policies.putInForce('ten_a', 'sandbox', '02')
      const standing = (name: string) => read().standing(bytes(name), 0)
      expect(await standing('ada')).toEqual({
        id: 'sub_ada',
        ...lockout,
        policyHash: '01',
        captures: [capture('seen')],
      })
      expect(await standing('box')).toMatchObject({ policyHash: '02', captures: [] })
      expect(await standing('out')).toMatchObject({ policyHash: null })
      expect(await standing('nobody')).toBeUndefined()
    })

    it('is read with others of the tenant, by the model of the reference and in the order of blind indexes', async () => {
      const [box, out] = [subject('box', { environment: 'sandbox' }), subject('out', { tenantId: 'ten_b' })]
      await insert({
        tenants: ['a', 'b'],
        subjects: ['eve', 'ada', 'bob', 'dan', 'zoe', out, box],
        references: ['eve', 'ada', 'bob', 'out', 'box', reference('zoe', { model: 'other@1' })],
      })
      const { model } = reference('ada')
      const page = async (start: string, limit: number) => {
        const users = await read().referencesAfter('ten_a', 'production', model, bytes(start), limit)
        return users.map(({ subject: { id }, reference: { subjectId } }) => [id, subjectId])
      }
      const [ada, bob, eve] = ['ada', 'bob', 'eve'].map((name) => [subject(name).id, subject(name).id])
      expect(await page('', 10)).toEqual([ada, bob, eve])
      expect(await page('', 2)).toEqual([ada, bob])
      expect(await page('bob', 10)).toEqual([eve])
      const [first] = await read().referencesAfter('ten_a', 'production', model, bytes(''), 1)
      expect(first).toEqual({ subject: subject('ada'), reference: reference('ada') })
    })

    it('is counted up to a limit in the sandbox, and listed when unused for long', async () => {
      await write(async (tx) => {
        for (const name of ['a', 'b']) await tx.insertTenant(tenant(name))
        for (const [at, name] of ['ada', 'bob', 'eve'].entries()) {
          await tx.insertSubject(subject(name))
          const use = { blindIndex: bytes(name), tenantId: 'ten_a', at: AT + at, unlessSince: 0 }
          await tx.noteSandboxUse(use)
        }
      })
      const count = (tenantId: string, limit: number) => read().countSandboxUsers(tenantId, limit)
      expect([await count('ten_a', 10), await count('ten_a', 2), await count('ten_b', 10)]).toEqual([3, 2, 0])
      const unused = (name: string) => ({ blindIndex: bytes(name), tenantId: 'ten_a' })
      const use = { ...unused('ada'), at: AT + 9 }
      await write((tx) => tx.noteSandboxUse({ ...use, unlessSince: AT - 1 }))
      expect(await read().unusedSandboxUsers(AT + 1, 10)).toEqual([unused('ada'), unused('bob')])
      expect(await read().unusedSandboxUsers(AT + 1, 1)).toEqual([unused('ada')])
      await write((tx) => tx.noteSandboxUse({ ...use, unlessSince: AT }))
      expect(await read().unusedSandboxUsers(AT + 1, 10)).toEqual([unused('bob')])
      await write((tx) => tx.eraseSubject(bytes('bob')))
      expect(await read().unusedSandboxUsers(AT + 9, 10)).toEqual([unused('eve'), unused('ada')])
    })

    it('has a unique blind index, and cannot exist without its tenant', async () => {
      await insert({ tenants: ['a'], subjects: ['ada'] })
      const add = (record: ReturnType<typeof subject>) => write((tx) => tx.insertSubject(record))
      await expect(add(subject('eve', { blindIndex: bytes('ada') }))).rejects.toThrow()
      await expect(add(subject('eve', { tenantId: 'ten_nobody' }))).rejects.toThrow()
      expect(await read().blindIndexesOf('ten_a', 10)).toEqual([bytes('ada')])
    })

    it('has one reference, which the next one replaces', async () => {
      await insert({ tenants: ['a'], subjects: ['ada'], references: ['ada'] })
      const next = reference('ada', { id: 'ref_next', model: 'm@2', sealed: bytes('next') })
      await write((tx) => tx.putReference(next))
      expect((await read().subject(bytes('ada')))?.reference).toEqual(next)
      expect(await read().referencesOf('ten_a')).toEqual({ production: 1, sandbox: 0 })
      await expect(write((tx) => tx.putReference(reference('nobody')))).rejects.toThrow()
    })

    it('has its lockout changed without other fields', async () => {
      const lockout = { failures: 4, lockedUntil: AT + 1, disabledAt: AT + 2 }
      await insert({ tenants: ['a'], subjects: ['ada', 'eve'] })
      await write((tx) => tx.setLockout('sub_ada', lockout))
      expect((await read().subject(bytes('ada')))?.subject).toEqual(subject('ada', lockout))
      expect((await read().subject(bytes('eve')))?.subject).toEqual(subject('eve'))
      await write((tx) => tx.setLockout('sub_ada', { failures: 0, lockedUntil: null, disabledAt: null }))
      expect((await read().subject(bytes('ada')))?.subject).toEqual(subject('ada'))
    })

    it('is counted by environment while it has a reference', async () => {
      const sam = subject('sam', { environment: 'sandbox' })
      const theirs = subject('theirs', { tenantId: 'ten_b' })
      const subjects = ['ada', 'eve', 'bare', sam, theirs]
      await insert({ tenants: ['a', 'b'], subjects, references: ['ada', 'eve', 'sam', 'theirs'] })
      expect(await read().referencesOf('ten_a')).toEqual({ production: 2, sandbox: 1 })
      expect(await read().referencesOf('ten_b')).toEqual({ production: 1, sandbox: 0 })
      expect(await read().referencesOf('ten_nobody')).toEqual({ production: 0, sandbox: 0 })
    })

    it('is listed among as many blind indexes as are asked for', async () => {
      await insert({
        tenants: ['a', 'b'],
        subjects: ['ada', 'eve', 'sam', subject('theirs', { tenantId: 'ten_b' })],
      })
      const found = async (limit: number) => (await read().blindIndexesOf('ten_a', limit)).map(String).sort()
      expect(await found(10)).toEqual(['ada', 'eve', 'sam'])
      expect(await found(2)).toHaveLength(2)
    })
  })

  describe('captures', () => {
    it('are listed newest first, after a time (exclusive), up to a limit', async () => {
      const times = { second: AT + 2, first: AT + 1, third: AT + 3 }
      const theirs = capture('theirs', { subjectId: 'sub_eve' })
      const captures = [...Object.entries(times).map(([name, seenAt]) => capture(name, { seenAt })), theirs]
      await insert({ tenants: ['a'], subjects: ['ada', 'eve'], captures })
      const digests = async (since: number, limit: number) =>
        (await newestCaptures(read(), 'sub_ada', since, limit)).map(({ digest }) => digest.toString())
      expect(await digests(AT, 10)).toEqual(['third', 'second', 'first'])
      expect(await digests(AT + 1, 10)).toEqual(['third', 'second'])
      expect(await digests(AT, 2)).toEqual(['third', 'second'])
      expect(await newestCaptures(read(), 'sub_eve', 0, 10)).toEqual([theirs])
    })

    it('are recognized by their digest when only the digest is kept, and are then not listed', async () => {
      const whole = capture('whole', { seenAt: AT + 1 })
      const captures = [capture('digest alone', { sealed: Buffer.alloc(0) }), whole]
      await insert({ tenants: ['a'], subjects: ['ada'], captures })
      const has = (digest: string, since: number, subjectId = 'sub_ada') =>
        hasCapture(read(), subjectId, bytes(digest), since)
      expect(await has('digest alone', AT - 1)).toBe(true)
      expect(await has('digest alone', AT)).toBe(false)
      expect(await has('whole', AT)).toBe(true)
      expect(await has('whole', AT, 'sub_eve')).toBe(false)
      expect(await has('never seen', 0)).toBe(false)
      expect(await newestCaptures(read(), 'sub_ada', 0, 10)).toEqual([whole])
    })

    it('are listed after the last position of a history, in order, at any time', async () => {
      await insert({ tenants: ['a'], subjects: ['ada', 'eve'] })
      expect(await read().captureHistory('sub_ada', [], 0, 10)).toEqual({
        hasDigest: false,
        newest: [],
        last: 0,
      })
      await write((tx) => tx.insertCapture(capture('before')))
      const { last } = await read().captureHistory('sub_ada', [], AT + 9, 0)
      const later = [
        capture('of another clock', { seenAt: AT - 5 }),
        capture('alone', { sealed: Buffer.alloc(0) }),
      ]
      await write(async (tx) => {
        await tx.insertCapture(capture('theirs', { subjectId: 'sub_eve' }))
        for (const one of later) await tx.insertCapture(one)
        expect(await capturesAfter(tx, 'sub_ada', last)).toEqual(later)
      })
      expect(await capturesAfter(read(), 'sub_ada', last)).toEqual(later)
      expect(await capturesAfter(read(), 'sub_ada', 0)).toEqual([capture('before'), ...later])
    })

    it('may have the same digest twice, and cannot exist without their user', async () => {
      const captures = [AT, AT + 1].map((seenAt) => capture('same', { seenAt }))
      await insert({ tenants: ['a'], subjects: ['ada'], captures })
      expect(await newestCaptures(read(), 'sub_ada', 0, 10)).toHaveLength(2)
      await expect(
        write((tx) => tx.insertCapture(capture('d', { subjectId: 'sub_nobody' }))),
      ).rejects.toThrow()
    })
  })

  describe('a kept response', () => {
    it('is returned until it expires (exclusive), and can then be replaced', async () => {
      const kept = keptResponse('s', { blindIndex: null, subjectId: null })
      await write((tx) => tx.insertIdempotencyRecord(kept))
      expect(await read().idempotencyRecord(bytes('s'), AT + 9)).toEqual(kept)
      expect(await read().idempotencyRecord(bytes('s'), AT + 10)).toBeUndefined()
      expect(await read().idempotencyRecord(bytes('other'), AT)).toBeUndefined()
      const again = (createdAt: number) =>
        keptResponse('s', { createdAt, status: 404, sealed: bytes('x'), payloadHash: bytes('y') })
      await expect(write((tx) => tx.insertIdempotencyRecord(again(AT + 9)))).rejects.toBeInstanceOf(
        AlreadyExecutedError,
      )
      expect(await read().idempotencyRecord(bytes('s'), AT)).toEqual(kept)
      await write((tx) => tx.insertIdempotencyRecord(again(AT + 10)))
      expect(await read().idempotencyRecord(bytes('s'), AT + 10)).toEqual(again(AT + 10))
    })

    it('is found by its user and payload since a time, the first one, and for nobody else', async () => {
      const kept = keptResponse('first', { blindIndex: bytes('ada'), payloadHash: bytes('p') })
      const others = [
        keptResponse('later', { ...kept, scope: bytes('later'), createdAt: AT + 2 }),
        keptResponse('other', { blindIndex: bytes('ada'), payloadHash: bytes('q') }),
        keptResponse('eve', { blindIndex: bytes('eve'), payloadHash: bytes('p') }),
        keptResponse('none', { blindIndex: null, payloadHash: bytes('p') }),
      ]
      for (const record of [...others, kept]) await write((tx) => tx.insertIdempotencyRecord(record))
      const find = (since: number) => read().responseToPayload(bytes('ada'), bytes('p'), since)
      expect(await find(kept.createdAt)).toEqual(kept)
      expect(await find(kept.createdAt + 1)).toEqual(others[0])
      expect(await find(AT + 3)).toBeUndefined()
      expect(await read().responseToPayload(bytes('eve'), bytes('q'), 0)).toBeUndefined()
    })

    it('is unique in its scope when many write at once, and rolls back everything else that the losers wrote', async () => {
      await insert({ tenants: ['a'] })
      const both = [stores.store, await stores.open()]
      const results = await Promise.allSettled(
        Array.from({ length: 32 }, (_, i) =>
          both[i % 2]!.transaction('installation', async (tx) => {
            await tx.insertSubject(subject(`user-${i}`))
            await tx.insertIdempotencyRecord(keptResponse('s', { status: 200 + i }))
          }),
        ),
      )
      const won = results.flatMap(({ status }, i) => (status === 'fulfilled' ? [i] : []))
      expect(won).toHaveLength(1)
      expect(await read().idempotencyRecord(bytes('s'), AT)).toMatchObject({ status: 200 + won[0]! })
      expect(await read().blindIndexesOf('ten_a', 100)).toEqual([bytes(`user-${won[0]}`)])
    })
  })

  describe('erasure', () => {
    it('deletes and counts key, reference, captures and kept responses, and leaves other users as they are', async () => {
      await insert({
        tenants: ['a'],
        users: ['ada', 'grace'],
        captures: [capture('digest alone', { sealed: Buffer.alloc(0) })],
        responses: [keptResponse('sealed by the service', { subjectId: null })],
        challenges: ['ada', 'grace'].map((name) => challenge(`cha_${name}`, { blindIndex: bytes(name) })),
      })
      const erase = () => write((tx) => tx.eraseSubject(bytes('ada')))
      expect(await erase()).toEqual({ references: 1, captures: 2, passkeys: 0, idempotencyRecords: 2 })
      expect(await read().subject(bytes('ada'))).toBeUndefined()
      expect(await newestCaptures(read(), 'sub_ada', 0, 10)).toEqual([])
      expect(await read().idempotencyRecord(bytes('scope of ada'), AT)).toBeUndefined()
      expect(await challenges().find('cha_ada')).toBeUndefined()
      expect(await read().subject(bytes('grace'))).toMatchObject({ reference: { id: 'ref_grace' } })
      expect(await newestCaptures(read(), 'sub_grace', 0, 10)).toHaveLength(1)
      expect(await read().idempotencyRecord(bytes('scope of grace'), AT)).toBeDefined()
      expect(await challenges().find('cha_grace')).toBeDefined()
      expect(await erase()).toEqual({ references: 0, captures: 0, passkeys: 0, idempotencyRecords: 0 })
    })

    it('deletes the kept responses of a user who is not enrolled', async () => {
      await write((tx) => tx.insertIdempotencyRecord(keptResponse('s', { subjectId: null })))
      const counted = { references: 0, captures: 0, passkeys: 0, idempotencyRecords: 1 }
      expect(await write((tx) => tx.eraseSubject(bytes('ada')))).toEqual(counted)
    })

    it('deletes the bodies of webhooks about the user, and keeps the deliveries', async () => {
      const blindIndex = bytes('ada')
      const [waiting, told, other] = [
        delivery('waiting', 'end', { blindIndex }),
        delivery('told', 'end', { blindIndex, ...DELIVERED }),
        delivery('of another', 'end', { blindIndex: bytes('eve') }),
      ]
      const deliveries = [waiting, told, other]
      await insert({ tenants: ['a'], subjects: ['ada'], endpoints: [endpoint('end')], deliveries })
      await write((tx) => tx.eraseSubject(blindIndex))
      const gone = { blindIndex: null, sealed: null }
      const erased = { ...waiting, ...gone, status: 'erased', nextAttemptAt: null }
      expect(await webhooks().delivery('waiting')).toEqual(erased)
      expect(await webhooks().delivery('told')).toEqual({ ...told, ...gone })
      expect(await webhooks().delivery('of another')).toEqual(other)
    })

    it('leaves a receipt until it expires (exclusive), which the next one replaces', async () => {
      await write((tx) => tx.putErasure(erasure('ada')))
      expect(await read().erasure(bytes('ada'), AT + 9)).toEqual(erasure('ada'))
      expect(await read().erasure(bytes('ada'), AT + 10)).toBeUndefined()
      expect(await read().erasure(bytes('eve'), AT)).toBeUndefined()
      const next = erasure('ada', { erasureId: 'era_next', references: 0, expiresAt: AT + 20 })
      await write((tx) => tx.putErasure(next))
      expect(await read().erasure(bytes('ada'), AT)).toEqual(next)
    })

    it('lets the same user enroll again', async () => {
      await write(async (tx) => {
        await tx.insertTenant(tenant('a'))
        await insertUser(tx, 'ada')
        await tx.eraseSubject(bytes('ada'))
        await insertUser(tx, 'ada', AT + 1)
      })
      expect(await read().subject(bytes('ada'))).toMatchObject({ subject: { createdAt: AT + 1 } })
    })
  })
})
