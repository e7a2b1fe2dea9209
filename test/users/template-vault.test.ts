import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { NO_EPOCHS } from '../../src/crypto/epoch-key.js'
import { open, seal } from '../../src/crypto/sealed-box.js'
import { ManualClock } from '../../src/lib/clock.js'
import type { ReferenceRecord } from '../../src/storage/records.js'
import type { StoreTransaction } from '../../src/storage/store.js'
import { type Subject, TemplateVault } from '../../src/users/template-vault.js'

const vault = new TemplateVault(
  { wrapping: { current: randomBytes(32), others: [] }, epochs: NO_EPOCHS, lookup: randomBytes(32) },
  new ManualClock(Date.UTC(2026, 0, 31)),
)
const face = Float32Array.from({ length: 128 }, (_, i) => Math.sin(i) / 8)

function subjectOf(tenantId: string): Subject {
  return vault.create(tenantId, 'production', vault.blindIndex(tenantId, 'production', 'ada'), 'ada')
}

async function reference(subject: Subject): Promise<ReferenceRecord> {
  const tx = { putReference: async () => {} } as unknown as StoreTransaction
  return vault.putReference(tx, subject, 'pack@1', {
    embedding: face,
    photoCount: 3,
    weight: 2.5,
    consent: { id: 'c1', at: 'then' },
  })
}

/** Decrypts a sealed reference with the user's data key. @returns the stored template */
function stored(subject: Subject, { sealed, id }: ReferenceRecord): Float64Array {
  const plaintext = open(subject.dataKey, sealed, id)
  return new Float64Array(new Uint8Array(plaintext.subarray(4 + plaintext.readUInt32LE(0))).buffer)
}

function cosine(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const dot = (x: ArrayLike<number>, y: ArrayLike<number>) =>
    Array.from(x).reduce((sum, value, i) => sum + value * y[i]!, 0)
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b))
}

describe('a stored template', () => {
  it('opens a template to what was stored, and stores it transformed', async () => {
    const subject = subjectOf('ten_a')
    const record = await reference(subject)
    const { embedding, photoCount, weight, consent } = vault.openReference(subject, record)
    expect([photoCount, weight]).toEqual([3, 2.5])
    expect(consent).toEqual({ id: 'c1', at: 'then' })
    expect(Math.max(...embedding.map((value, i) => Math.abs(value - face[i]!)))).toBeLessThan(1e-7)
    expect(Math.abs(cosine(stored(subject, record), face))).toBeLessThan(0.5)
    const capture = vault.captureOf(subject, face)
    expect(Math.abs(cosine(capture, face))).toBeLessThan(0.5)
    const remembered = vault.openCapture(subject, vault.sealCapture(subject, capture, 'pack@1'))
    expect(remembered).toEqual({ face: capture, modelTag: vault.modelTag('pack@1') })
    expect(vault.modelTag('pack@2')).not.toBe(remembered.modelTag)
  })

  it('stores templates that cannot be compared with the same face of another tenant or enrollment', async () => {
    const [one, other] = [subjectOf('ten_a'), subjectOf('ten_b')]
    const records = [await reference(one), await reference(one), await reference(other)]
    const [first, again, foreign] = records.map((record, i) => stored(i < 2 ? one : other, record))
    expect(Math.abs(cosine(first!, again!))).toBeLessThan(0.5)
    expect(Math.abs(cosine(first!, foreign!))).toBeLessThan(0.5)
  })

  it('opens templates that were stored before there were transforms', () => {
    const subject = subjectOf('ten_a')
    const header = Buffer.from(JSON.stringify({ consent: null, dimensions: 128 }))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    const bytes = Buffer.from(face.buffer)
    const record: ReferenceRecord = {
      id: 'ref_old',
      subjectId: subject.record.id,
      model: 'pack@1',
      sealed: seal(subject.dataKey, Buffer.concat([length, header, bytes]), 'ref_old'),
      createdAt: 0,
    }
    expect(vault.openReference(subject, record)).toEqual({
      embedding: face,
      photoCount: 1,
      weight: 1,
      consent: null,
    })
    const capture = seal(subject.dataKey, bytes, 'capture')
    expect(vault.openCapture(subject, capture)).toEqual({
      face: vault.captureOf(subject, face),
      modelTag: null,
    })
  })
})
