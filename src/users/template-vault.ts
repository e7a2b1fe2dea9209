/** Users and their references at rest: found by a keyed pseudonym, sealed under a data key of their own, lost for ever with that key. */
import { createHmac, randomBytes } from 'node:crypto'
import type { Environment } from '../config/config.js'
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Clock } from '../lib/clock.js'
import type { ReferenceRecord, SubjectRecord } from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import { TemplateTransform } from './template-transform.js'

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
  /** Makes the transform of the user's stored captures, once a request. */
  captureTransform: (dimensions: number) => TemplateTransform
  reference: ReferenceRecord | null
}

export interface ReferenceContent {
  /** [dimensions] float32. */
  embedding: Float32Array
  /** How many photos it was made of. */
  views: number
  /** How much it counts when further views are fused with it. */
  weight: number
  consent: Consent | null
}

/** What stands before an embedding in a sealed reference. */
interface ReferenceHeader {
  consent: Consent | null
  transform?: typeof TRANSFORM
  /** Absent from references that were made before views were counted: one photo of full weight. */
  views?: number
  weight?: number
}

/** Version of `TemplateTransform`. */
const TRANSFORM = 1

export class TemplateVault {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'wrapping' | 'epochs' | 'lookup'>,
    private readonly clock: Clock,
  ) {}

  /** The pseudonym under which a user is found: one-way without the master key. */
  blindIndex(tenantId: string, environment: Environment, userId: string): Buffer {
    return createHmac('sha256', this.keys.lookup).update(`${tenantId}\0${environment}\0${userId}`).digest()
  }

  async find(store: StoreReader, blindIndex: Buffer, userId: string): Promise<Subject | null> {
    const found = await store.subject(blindIndex)
    if (!found) return null
    const dataKey = this.dataKey(found.subject)
    return {
      record: found.subject,
      dataKey,
      pseudonym: pseudonym(dataKey, userId),
      captureTransform: this.transformOf(found.subject.tenantId, found.subject.id),
      reference: found.reference,
    }
  }

  /** @throws UnopenedBoxError while this process does not hold the keys under which the data key is wrapped */
  dataKey({ id, wrappedKey }: SubjectRecord): Buffer {
    return openWithAny(dataKeyWrapping(this.keys), wrappedKey, id)
  }

  /** A subject that is not stored yet. */
  create(tenantId: string, environment: Environment, blindIndex: Buffer, userId: string): Subject {
    const now = this.clock.now()
    const id = prefixedId('sub', now)
    const dataKey = randomBytes(32)
    return {
      record: {
        id,
        tenantId,
        environment,
        blindIndex,
        wrappedKey: seal(dataKeyWrapping(this.keys).current, dataKey, id),
        createdAt: now,
        failures: 0,
        lockedUntil: null,
        disabledAt: null,
        replaceVerdict: null,
        replaceVerdictAt: null,
      },
      dataKey,
      pseudonym: pseudonym(dataKey, userId),
      captureTransform: this.transformOf(tenantId, id),
      reference: null,
    }
  }

  /** Stores a new reference in the place of an old one. */
  async putReference(
    tx: StoreTransaction,
    subject: Subject,
    model: string,
    { embedding, views, weight, consent }: ReferenceContent,
  ): Promise<ReferenceRecord> {
    const createdAt = this.clock.now()
    const id = prefixedId('ref', createdAt)
    const { length: dimensions } = embedding
    const header = Buffer.from(JSON.stringify({ consent, dimensions, transform: TRANSFORM, views, weight }))
    const transform = this.transformOf(subject.record.tenantId, id)(dimensions)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(header.length)
    const plaintext = Buffer.concat([length, header, bytesOf(transform.apply(embedding))])
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

  /** What a reference says beside its embedding, which stays closed. */
  describeReference(
    subject: Subject,
    reference: ReferenceRecord,
  ): Pick<ReferenceContent, 'views' | 'consent'> {
    const { views = 1, consent } = unpack(open(subject.dataKey, reference.sealed, reference.id)).header
    return { views, consent }
  }

  openReference(subject: Subject, reference: ReferenceRecord): ReferenceContent {
    const { header, bytes } = unpack(open(subject.dataKey, reference.sealed, reference.id))
    const { consent, transform, views = 1, weight = 1 } = header
    // Made before there were transforms.
    if (transform === undefined)
      return { embedding: new Float32Array(aligned(bytes)), views, weight, consent }
    const stored = new Float64Array(aligned(bytes))
    const inverse = this.transformOf(subject.record.tenantId, reference.id)(stored.length)
    return { embedding: inverse.invert(stored), views, weight, consent }
  }

  /** Digest of a capture, of which the SHA-256 is given, keyed by the user's data key: without it, not even the question "was it this image?" can be asked. */
  captureDigest(subject: Subject, imageHash: Uint8Array): Buffer {
    return createHmac('sha256', subkey(subject.dataKey, 'capture')).update(imageHash).digest()
  }

  /** How the audit log names what a user did: lost with the user's data key, before which nobody can guess at it. */
  auditDigest(subject: Subject, actionHash: string): string {
    return createHmac('sha256', subkey(subject.dataKey, 'audit-action')).update(actionHash).digest('hex')
  }

  /**
   * An embedding as captures of the user are stored: in a space of their own, in which they are compared with each other as
   * anywhere else.
   */
  captureOf(subject: Subject, embedding: Float32Array): Float32Array {
    return new Float32Array(subject.captureTransform(embedding.length).apply(embedding))
  }

  sealCapture(subject: Subject, capture: Float32Array): Buffer {
    return seal(subject.dataKey, Buffer.concat([Buffer.of(TRANSFORM), bytesOf(capture)]), 'capture')
  }

  /** @returns as `captureOf` */
  openCapture(subject: Subject, sealed: Buffer): Float32Array {
    const plaintext = open(subject.dataKey, sealed, 'capture')
    if (plaintext.length % Float32Array.BYTES_PER_ELEMENT === 1)
      return new Float32Array(aligned(plaintext.subarray(1)))
    // Made before there were transforms: without the leading byte.
    return this.captureOf(subject, new Float32Array(aligned(plaintext)))
  }

  /** A key of its own for each tenant and generation of templates: no two of them can be compared. */
  private transformOf(tenantId: string, generation: string): (dimensions: number) => TemplateTransform {
    let made: TemplateTransform | undefined
    return (dimensions) => {
      if (made?.dimensions === dimensions) return made
      const key = createHmac('sha256', this.keys.lookup)
        .update(`template\0${tenantId}\0${generation}`)
        .digest()
      made = new TemplateTransform(key, dimensions)
      return made
    }
  }
}

/** What is sealed for a user beside the reference, and erased with it, goes by these. */
export function ownerOf({ record, dataKey }: Subject): { blindIndex: Buffer; id: string; dataKey: Buffer } {
  return { blindIndex: record.blindIndex, id: record.id, dataKey }
}

function unpack(plaintext: Buffer): { header: ReferenceHeader; bytes: Buffer } {
  const headerEnd = 4 + plaintext.readUInt32LE(0)
  const header = JSON.parse(plaintext.toString('utf8', 4, headerEnd)) as ReferenceHeader
  return { header, bytes: plaintext.subarray(headerEnd) }
}

function pseudonym(dataKey: Buffer, userId: string): string {
  return createHmac('sha256', subkey(dataKey, 'audit-pseudonym')).update(userId).digest('hex').slice(0, 32)
}

/** The expand step of HKDF (RFC 5869), which is all that a key of random bytes needs: no key serves two purposes. */
function subkey(dataKey: Buffer, purpose: string): Buffer {
  return createHmac('sha256', dataKey).update(`countersign/v1/${purpose}\x01`).digest()
}

function bytesOf(values: Float32Array | Float64Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** Copies: a view of numbers needs an alignment that a slice of a decrypted buffer does not have. */
function aligned(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
