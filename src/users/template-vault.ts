/** Users and their references at rest. A keyed pseudonym finds a user; a data key of the user's own seals the reference, which is lost for ever with that key. */
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

/** A user with an unwrapped data key, for the length of one request. */
export interface Subject {
  record: SubjectRecord
  dataKey: Buffer
  /** Name of the user in the audit log, 32 hex digits. */
  pseudonym: string
  /** Transform of the user's stored captures for embeddings of this length. It is made once in a request. */
  captureTransform: (dimensions: number) => TemplateTransform
  reference: ReferenceRecord | null
}

export interface ReferenceContent {
  /** [dimensions] float32. */
  embedding: Float32Array
  /** Number of photos that the reference was made of. */
  photoCount: number
  /** Weight of the embedding when further photos are fused with it. */
  weight: number
  consent: Consent | null
}

/** JSON before the embedding in a sealed reference. */
interface ReferenceHeader {
  consent: Consent | null
  transform?: typeof TRANSFORM
  /** Number of photos. Absent from references that were made before photos were counted: they are of one photo of full weight. */
  views?: number
  weight?: number
}

/** Version of `TemplateTransform` that new templates are stored with. */
const TRANSFORM = 1

export class TemplateVault {
  constructor(
    private readonly keys: Pick<ServiceKeys, 'wrapping' | 'epochs' | 'lookup'>,
    private readonly clock: Clock,
  ) {}

  /** Keyed pseudonym (HMAC-SHA-256) under which the database finds a user. Without the master key nobody can compute it. */
  blindIndex(tenantId: string, environment: Environment, userId: string): Buffer {
    return createHmac('sha256', this.keys.lookup).update(`${tenantId}\0${environment}\0${userId}`).digest()
  }

  /**
   * HMAC of an action, by which an approval that waits for a second person is compared. Without the master key nobody can check a guess.
   * @param action in RFC 8785 canonical form
   */
  actionBinding(tenantId: string, environment: Environment, action: string): Buffer {
    return createHmac('sha256', this.keys.lookup)
      .update(`approval\0${tenantId}\0${environment}\0${action}`)
      .digest()
  }

  /** Finds a user and unwraps the data key. @returns null for a user who is not enrolled */
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

  /** Makes a subject with a new data key, without storing it. */
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

  /** Stores a reference, which replaces an earlier one of the same subject. */
  async putReference(
    tx: StoreTransaction,
    subject: Subject,
    model: string,
    { embedding, photoCount, weight, consent }: ReferenceContent,
  ): Promise<ReferenceRecord> {
    const createdAt = this.clock.now()
    const id = prefixedId('ref', createdAt)
    const { length: dimensions } = embedding
    const header = { consent, dimensions, transform: TRANSFORM, views: photoCount, weight }
    const transform = this.transformOf(subject.record.tenantId, id)(dimensions)
    const plaintext = pack(header, bytesOf(transform.apply(embedding)))
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

  /** Number of photos and consent of a reference, without its embedding. */
  describeReference(
    subject: Subject,
    reference: ReferenceRecord,
  ): Pick<ReferenceContent, 'photoCount' | 'consent'> {
    const { views: photoCount = 1, consent } = unpack(
      open(subject.dataKey, reference.sealed, reference.id),
    ).header
    return { photoCount, consent }
  }

  /**
   * Replaces the consent of a reference, and nothing else of it: id, time and template stay.
   * @returns the consent before; null for none
   */
  async recordConsent(
    tx: StoreTransaction,
    { dataKey }: Subject,
    { id, sealed }: ReferenceRecord,
    consent: Consent,
  ): Promise<Consent | null> {
    const { header, bytes } = unpack(open(dataKey, sealed, id))
    await tx.resealReference({ id, sealed: seal(dataKey, pack({ ...header, consent }, bytes), id) })
    return header.consent
  }

  openReference(subject: Subject, reference: ReferenceRecord): ReferenceContent {
    return this.contentOf(reference, subject.dataKey, subject.record.tenantId)
  }

  /** Opens a reference for a comparison with those of other users, whose ids nobody gave. The data key is overwritten. */
  openReferenceOf(record: SubjectRecord, reference: ReferenceRecord): ReferenceContent {
    const dataKey = this.dataKey(record)
    try {
      return this.contentOf(reference, dataKey, record.tenantId)
    } finally {
      dataKey.fill(0)
    }
  }

  private contentOf({ id, sealed }: ReferenceRecord, dataKey: Buffer, tenantId: string): ReferenceContent {
    const { header, bytes } = unpack(open(dataKey, sealed, id))
    const { consent, transform, views: photoCount = 1, weight = 1 } = header
    // References from before transforms hold the embedding as it is, in float32.
    if (transform === undefined)
      return { embedding: new Float32Array(aligned(bytes)), photoCount, weight, consent }
    const stored = new Float64Array(aligned(bytes))
    const inverse = this.transformOf(tenantId, id)(stored.length)
    return { embedding: inverse.invert(stored), photoCount, weight, consent }
  }

  /**
   * Digest of a capture, keyed by the user's data key: without the key nobody can even check a guess at the image.
   * @param imageHash SHA-256 of the image
   */
  captureDigest(subject: Subject, imageHash: Uint8Array): Buffer {
    return createHmac('sha256', subkey(subject.dataKey, 'capture')).update(imageHash).digest()
  }

  /** Digest of an action for the audit log, in hex, keyed by the user's data key: nobody can check a guess at the action without the key. */
  auditDigest(subject: Subject, actionHash: string): string {
    return createHmac('sha256', subkey(subject.dataKey, 'audit-action')).update(actionHash).digest('hex')
  }

  /**
   * Transforms an embedding into the space of the user's stored captures, in which their similarities are the same as before.
   * @returns [dimensions] float32
   */
  captureOf(subject: Subject, embedding: Float32Array): Float32Array {
    return new Float32Array(subject.captureTransform(embedding.length).apply(embedding))
  }

  /** Seals the user's id, so that a notice of the erasure can name the user. */
  sealUserId(subject: Subject, userId: string): Buffer {
    return seal(subject.dataKey, Buffer.from(userId), 'user-id')
  }

  /** @param dataKey of the user */
  openUserId(dataKey: Buffer, sealed: Buffer): string {
    return open(dataKey, sealed, 'user-id').toString()
  }

  sealCapture(subject: Subject, capture: Float32Array): Buffer {
    return seal(subject.dataKey, Buffer.concat([Buffer.of(TRANSFORM), bytesOf(capture)]), 'capture')
  }

  /** @returns the capture in the space of `captureOf` */
  openCapture(subject: Subject, sealed: Buffer): Float32Array {
    const plaintext = open(subject.dataKey, sealed, 'capture')
    if (plaintext.length % Float32Array.BYTES_PER_ELEMENT === 1)
      return new Float32Array(aligned(plaintext.subarray(1)))
    // Captures from before transforms have no leading byte and hold the embedding as it is.
    return this.captureOf(subject, new Float32Array(aligned(plaintext)))
  }

  /** Makes transforms under a key for this tenant and generation of templates only: templates of two generations cannot be compared. */
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

/** Keys of everything else that is sealed for a user and erased with the user. */
export function ownerOf({ record, dataKey }: Subject): { blindIndex: Buffer; id: string; dataKey: Buffer } {
  return { blindIndex: record.blindIndex, id: record.id, dataKey }
}

function unpack(plaintext: Buffer): { header: ReferenceHeader; bytes: Buffer } {
  const headerEnd = 4 + plaintext.readUInt32LE(0)
  const header = JSON.parse(plaintext.toString('utf8', 4, headerEnd)) as ReferenceHeader
  return { header, bytes: plaintext.subarray(headerEnd) }
}

function pack(header: object, bytes: Buffer): Buffer {
  const text = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text, bytes])
}

function pseudonym(dataKey: Buffer, userId: string): string {
  return createHmac('sha256', subkey(dataKey, 'audit-pseudonym')).update(userId).digest('hex').slice(0, 32)
}

/** Derives a key for one purpose by the expand step of HKDF (RFC 5869). A key of random bytes needs no extract step. */
function subkey(dataKey: Buffer, purpose: string): Buffer {
  return createHmac('sha256', dataKey).update(`countersign/v1/${purpose}\x01`).digest()
}

function bytesOf(values: Float32Array | Float64Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** Copies the bytes, because a typed array needs an alignment that a slice of a decrypted buffer may lack. */
function aligned(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
