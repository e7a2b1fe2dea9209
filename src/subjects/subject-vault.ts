/** Users and their references at rest: found by a keyed pseudonym, sealed under a data key of their own, lost for ever with that key. */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Clock } from '../clock.js'
import type { Environment } from '../config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { ReferenceRecord, SubjectRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'

export interface Consent {
  id: string
  at: string
}

/** A user that exists, with its data key unwrapped for the length of one request. */
export interface Subject {
  record: SubjectRecord
  dataKey: Buffer
  /** How the audit log names the user. */
  pseudonym: string
  reference: ReferenceRecord | null
}

export interface ReferenceContent {
  /** [dimensions] float32. */
  embedding: Float32Array
  consent: Consent | null
}

export class SubjectVault {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'wrapping' | 'lookup'>,
    private readonly clock: Clock,
  ) {}

  /** The pseudonym under which a user is found: one-way without the master key. */
  lookup(tenantId: string, environment: Environment, userId: string): Buffer {
    return createHmac('sha256', this.keys.lookup).update(`${tenantId}\0${environment}\0${userId}`).digest()
  }

  async find(store: StoreReader, lookup: Buffer, userId: string): Promise<Subject | null> {
    const found = await store.subject(lookup)
    if (!found) return null
    const dataKey = this.dataKey(found.subject)
    return {
      record: found.subject,
      dataKey,
      pseudonym: pseudonym(dataKey, userId),
      reference: found.reference,
    }
  }

  dataKey({ id, wrappedKey }: SubjectRecord): Buffer {
    return open(this.keys.wrapping, wrappedKey, id)
  }

  /** A subject that is not stored yet. */
  create(tenantId: string, environment: Environment, lookup: Buffer, userId: string): Subject {
    const now = this.clock.now()
    const id = prefixedId('sub', now)
    const dataKey = randomBytes(32)
    return {
      record: {
        id,
        tenantId,
        environment,
        lookup,
        wrappedKey: seal(this.keys.wrapping, dataKey, id),
        createdAt: now,
        failures: 0,
        lockedUntil: null,
        disabledAt: null,
      },
      dataKey,
      pseudonym: pseudonym(dataKey, userId),
      reference: null,
    }
  }

  /** Stores a new reference in the place of an old one. */
  async putReference(
    tx: StoreTransaction,
    subject: Subject,
    model: string,
    { embedding, consent }: ReferenceContent,
  ): Promise<ReferenceRecord> {
    const createdAt = this.clock.now()
    const id = prefixedId('ref', createdAt)
    const header = Buffer.from(JSON.stringify({ consent, dimensions: embedding.length }))
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    const plaintext = Buffer.concat([length, header, bytesOf(embedding)])
    const reference: ReferenceRecord = {
      id,
      subjectId: subject.record.id,
      model,
      sealed: seal(subject.dataKey, plaintext, id),
      createdAt,
    }
    await tx.putReference(reference)
    return reference
  }

  openReference(subject: Subject, reference: ReferenceRecord): ReferenceContent {
    const plaintext = open(subject.dataKey, reference.sealed, reference.id)
    const headerEnd = 4 + plaintext.readUInt32LE(0)
    const { consent } = JSON.parse(plaintext.toString('utf8', 4, headerEnd)) as { consent: Consent | null }
    return { embedding: floatsOf(plaintext.subarray(headerEnd)), consent }
  }

  /** Digest of a capture, keyed by the user's data key: without it, not even the question "was it this image?" can be asked. */
  captureDigest(subject: Subject, image: Uint8Array): Buffer {
    const key = subkey(subject.dataKey, 'capture')
    return createHmac('sha256', key).update(createHash('sha256').update(image).digest()).digest()
  }

  sealEmbedding(subject: Subject, embedding: Float32Array): Buffer {
    return seal(subject.dataKey, bytesOf(embedding), 'capture')
  }

  openEmbedding(subject: Subject, sealed: Buffer): Float32Array {
    return floatsOf(open(subject.dataKey, sealed, 'capture'))
  }
}

function pseudonym(dataKey: Buffer, userId: string): string {
  return createHmac('sha256', subkey(dataKey, 'audit-pseudonym')).update(userId).digest('hex').slice(0, 32)
}

/** The expand step of HKDF (RFC 5869), which is all that a key of random bytes needs: no key serves two purposes. */
function subkey(dataKey: Buffer, purpose: string): Buffer {
  return createHmac('sha256', dataKey).update(`countersign/v1/${purpose}\x01`).digest()
}

function bytesOf(values: Float32Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** Copies: a float view needs 4-byte alignment, which a slice of a decrypted buffer does not have. */
function floatsOf(bytes: Buffer): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}
