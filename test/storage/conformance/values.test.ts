/** Tests that every store returns values as they were written: bytes, texts, times and nulls. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { accountReader, accountWriter } from '../../../src/admin/accounts/account-statements.js'
import {
  AT,
  apiKey,
  auditEntry,
  bytes,
  capture,
  capturesAfter,
  keptResponse,
  operator,
  reference,
  subject,
  tenant,
} from '../../support/records.js'
import { overStores } from '../../support/stores.js'

const TEXTS = {
  empty: '',
  quotes: `'; DROP TABLE tenant; --" \\ $1 ? @id :name %s`,
  emoji: '👩🏽‍💻 🇨🇭',
  'right to left': 'مرحبا שלום',
  composed: '\u00e9',
  decomposed: 'e\u0301',
  controls: '\t\r\n\u0001\u007f',
  'line separators': '\u2028\u2029\ufeff',
  'outside the first plane': '\u{10ffff}𝒜',
  long: 'ä'.repeat(300_000),
}

overStores((stores) => {
  const { read, write, insert } = stores

  it('returns the bytes that were written, zeros and empty values included', async () => {
    const every = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
    const values = [Buffer.alloc(0), Buffer.alloc(1), Buffer.alloc(33), every, Buffer.alloc(2 ** 20, 0xc3)]
    await insert({ tenants: ['a'] })
    for (const [i, value] of values.entries()) {
      const blindIndex = Buffer.concat([bytes(`${i}`), value.subarray(0, 300)])
      await insert({
        subjects: [subject(`${i}`, { blindIndex, wrappedKey: value })],
        references: [reference(`${i}`, { sealed: value })],
      })
      const found = await read().subject(blindIndex)
      expect(Buffer.isBuffer(found?.subject.wrappedKey)).toBe(true)
      expect(found?.subject.wrappedKey.equals(value)).toBe(true)
      expect(found?.reference?.sealed.equals(value)).toBe(true)
      expect(found?.subject.blindIndex.equals(blindIndex)).toBe(true)
    }
  })

  it('distinguishes bytes with the same beginning', async () => {
    const blindIndexes = ['', '00', '0000', '61', '6100', '610000', '61ff'].map((hex) =>
      Buffer.from(hex, 'hex'),
    )
    await write(async (tx) => {
      await tx.insertTenant(tenant('a'))
      for (const [i, blindIndex] of blindIndexes.entries())
        await tx.insertSubject(subject(`${i}`, { blindIndex }))
    })
    for (const [i, blindIndex] of blindIndexes.entries())
      expect((await read().subject(blindIndex))?.subject.id).toBe(`sub_${i}`)
  })

  it.each(Object.entries(TEXTS))('returns a text as it was written: %s', async (_, text) => {
    await write(async (tx) => {
      await tx.insertTenant(tenant('a', { name: text.slice(0, 500) }))
      await tx.statements(accountWriter).putPerson(operator('anna', { passwordHash: text }))
      await tx.appendAudit(auditEntry(1, { entry: text }))
    })
    expect((await read().tenantByName(text.slice(0, 500)))?.id).toBe('ten_a')
    expect((await read().statements(accountReader).personById('op_anna'))?.passwordHash).toBe(text)
    expect((await read().auditHead('ten_a'))?.entry).toBe(text)
  })

  it('distinguishes texts that look alike', async () => {
    const names = ['\u00e9', 'e\u0301', 'E\u0301', 'a', 'A', ' a', 'a ', '']
    await write(async (tx) => {
      for (const [i, name] of names.entries()) await tx.insertTenant(tenant(name, { id: `ten_${i}` }))
    })
    for (const [i, name] of names.entries()) expect((await read().tenantByName(name))?.id).toBe(`ten_${i}`)
  })

  it('returns times and counts exactly, up to the largest safe integer', async () => {
    const times = [0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32, AT, Number.MAX_SAFE_INTEGER]
    await insert({ tenants: ['a'] })
    for (const at of times) {
      const key = apiKey(`key ${at}`, { createdAt: at, validUntil: at, revokedAt: at })
      await write((tx) => tx.insertApiKey(key))
      expect((await read().apiKeyByHash(key.hash, AT))?.key).toEqual(key)
    }
    const locked = subject('ada', { lockedUntil: Number.MAX_SAFE_INTEGER, failures: 1_000_000 })
    await write((tx) => tx.insertSubject(locked))
    expect((await read().subject(locked.blindIndex))?.subject).toEqual(locked)
  })

  it('returns rates as the same floating-point numbers', async () => {
    const rates = [0.1, 1e-7, 1 / 3, 123_456.789, Number.MIN_VALUE, Number.MAX_VALUE, 1]
    for (const [i, rate] of rates.entries()) {
      const one = tenant(`${i}`, { ratePerSecond: rate, fmr: rate })
      await write((tx) => tx.insertTenant(one))
      expect(await read().tenantById(one.id)).toEqual(one)
    }
  })

  it('returns any record as it was written', async () => {
    let count = 0
    await insert({ tenants: ['a'], subjects: ['ada'] })
    const anyBytes = fc.uint8Array({ maxLength: 200 }).map((array) => Buffer.from(array))
    const anyText = fc.string({ unit: 'grapheme', maxLength: 50 }).map((text) => text.replaceAll('\0', ''))
    const anyTime = fc.nat({ max: Number.MAX_SAFE_INTEGER - 1 })
    await fc.assert(
      fc.asyncProperty(anyBytes, anyText, anyTime, fc.boolean(), async (some, text, at, isOfNobody) => {
        const scope = Buffer.concat([bytes(`${count++} `), some])
        const kept = {
          ...keptResponse('', { payloadHash: some, sealed: some, createdAt: at, expiresAt: at + 1 }),
          ...{ scope, blindIndex: isOfNobody ? null : some, subjectId: isOfNobody ? null : text },
        }
        const seen = capture('', {
          digest: scope,
          sealed: Buffer.concat([some, some, bytes('.')]),
          seenAt: at,
        })
        await insert({ responses: [kept], captures: [seen] })
        expect(await read().idempotencyRecord(scope, at)).toEqual(kept)
        const captures = await capturesAfter(read(), 'sub_ada', 0)
        expect(captures.find(({ digest }) => digest.equals(scope))).toEqual(seen)
        const { newest } = await read().captureHistory('sub_ada', [], at - 1, 1000)
        expect(newest).toContainEqual(seen.sealed)
      }),
      { numRuns: 50 },
    )
  })
})
