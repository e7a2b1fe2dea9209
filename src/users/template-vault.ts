/** Users and their references at rest. A keyed pseudonym finds a user; a data key of the user's own seals the reference, which is lost for ever with that key. */
import { createHash, createHmac } from 'node:crypto'
import type { Environment } from '../config/config.js'
import { dataKeyWrapping } from '../crypto/epoch-key.js'
import { prefixedId } from '../crypto/identifiers.js'
import { open, openWithAny, seal, sealWithin } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Clock } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type {
  FollowingReferenceRecord,
  OwnConsentTextRecord,
  ReferenceRecord,
  SubjectRecord,
} from '../storage/records.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import { aligned, bytesOf, type Consent, packTemplate, TRANSFORM, unpackTemplate } from './sealed-template.js'
import { TemplateTransform } from './template-transform.js'
import type { TemplateRecord, Templates } from './templates.js'
import { dataKeyOf, drawUserKeys, type UserKeys, userKeys } from './user-keys.js'

export type { Consent } from './sealed-template.js'

/** A user with unwrapped keys, for the length of one request. */
export interface Subject extends Templates, UserKeys {
  record: SubjectRecord
  /** Transform of the user's stored captures for embeddings of this length. It is made once in a request. */
  captureTransform: (dimensions: number) => TemplateTransform
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

/** A consent text that a person has agreed to. */
export type AgreedText = Omit<OwnConsentTextRecord, 'tenantId' | 'subjectId' | 'sealed'> & { text: string }

const DROPPED = 'The template was deleted with its model pack: enroll the user again with `"replace": true`.'

/** A capture whose plaintext names the model that embedded it. An earlier version reads such a capture as longer, and compares it with none. */
const TAGGED_CAPTURE = 2
const MODEL_TAG_BYTES = 4

/** A remembered capture in the space of `captureOf`. */
export interface RememberedFace {
  face: Float32Array
  /** `modelTag` of the model that embedded the capture; null for one that an earlier version remembered. */
  modelTag: number | null
}

export class TemplateVault {
  private readonly modelTags = new Map<string, number>()

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
    return {
      record: found.subject,
      ...userKeys(this.unwrap(found.subject), userId),
      captureTransform: this.transformOf(found.subject.tenantId, found.subject.id),
      reference: found.reference,
      following: found.following,
      aged: found.aged,
    }
  }

  /** @throws UnopenedBoxError while this process does not hold the keys under which the data key is wrapped */
  dataKey(record: SubjectRecord): Buffer {
    return dataKeyOf(this.unwrap(record))
  }

  private unwrap({ id, wrappedKey }: SubjectRecord): Buffer {
    return openWithAny(dataKeyWrapping(this.keys), wrappedKey, id)
  }

  /** Makes a subject with new keys, without storing it. */
  create(tenantId: string, environment: Environment, blindIndex: Buffer, userId: string): Subject {
    const now = this.clock.now()
    const id = prefixedId('sub', now)
    const keys = drawUserKeys()
    return {
      record: {
        id,
        tenantId,
        environment,
        blindIndex,
        wrappedKey: seal(dataKeyWrapping(this.keys).current, keys, id),
        createdAt: now,
        failures: 0,
        lockedUntil: null,
        disabledAt: null,
        replaceVerdict: null,
        replaceVerdictAt: null,
        passkeyRecovery: null,
        passkeyRecoveryAt: null,
        revokedPasskey: null,
      },
      ...userKeys(keys, userId),
      captureTransform: this.transformOf(tenantId, id),
      reference: null,
      following: [],
      aged: null,
    }
  }

  /** Stores a reference, which replaces an earlier one of the same subject and the templates next to it. */
  async putReference(
    tx: StoreTransaction,
    subject: Subject,
    model: string,
    content: ReferenceContent,
  ): Promise<ReferenceRecord> {
    const createdAt = this.clock.now()
    const id = prefixedId('ref', createdAt)
    const sealed = this.sealTemplate(subject, id, content)
    const reference: ReferenceRecord = { id, subjectId: subject.record.id, model, sealed, createdAt }
    await tx.putReference(reference)
    return reference
  }

  /**
   * Stores a template of another model next to a reference.
   * @param only as of `ModelWriter.putFollowingReference`
   * @returns false where nothing was written, because reference or models have changed meanwhile
   */
  putFollowing(
    tx: StoreTransaction,
    subject: Subject,
    referenceId: string,
    model: string,
    content: ReferenceContent,
    only?: { tenantId: string; models: string },
  ): Promise<boolean> {
    return tx.putFollowingReference(this.sealBeside(subject, { id: referenceId, model }, content), only)
  }

  /** Makes a template that is to be kept next to a reference, which is not stored yet. */
  sealBeside(
    subject: Pick<Subject, 'record' | 'dataKey'>,
    { id: referenceId, model }: Pick<ReferenceRecord, 'id' | 'model'>,
    content: ReferenceContent,
  ): FollowingReferenceRecord {
    const createdAt = this.clock.now()
    const id = prefixedId('ref', createdAt)
    return { id, referenceId, model, sealed: this.sealTemplate(subject, id, content), createdAt }
  }

  /**
   * Seals a template so that it can be stored under the id of a reference.
   * @param content null to keep only what describes the template, without its embedding
   */
  sealAs(
    subject: Pick<Subject, 'record' | 'dataKey'>,
    reference: TemplateRecord,
    content: ReferenceContent | null,
  ): Buffer {
    if (content) return this.sealTemplate(subject, reference.id, content)
    const { header } = unpackTemplate(open(subject.dataKey, reference.sealed, reference.id))
    const emptied = packTemplate({ ...header, dimensions: 0, dropped: true }, Buffer.alloc(0))
    return sealWithin(subject.dataKey, emptied, reference.id)
  }

  private sealTemplate(
    { record, dataKey }: Pick<Subject, 'record' | 'dataKey'>,
    id: string,
    { embedding, photoCount: views, weight, consent }: ReferenceContent,
  ): Buffer {
    const { length: dimensions } = embedding
    const values = this.transformOf(record.tenantId, id)(dimensions).apply(embedding)
    return sealWithin(
      dataKey,
      packTemplate({ consent, dimensions, transform: TRANSFORM, views, weight }, bytesOf(values)),
      id,
    )
  }

  /** Whether the embedding of the template was deleted. */
  isDropped(
    subject: Pick<Subject, 'dataKey'>,
    { id, sealed }: Pick<TemplateRecord, 'id' | 'sealed'>,
  ): boolean {
    return unpackTemplate(open(subject.dataKey, sealed, id)).header.dropped === true
  }

  /** Number of photos and consent of a template, without its embedding. */
  describeReference(
    subject: Pick<Subject, 'dataKey'>,
    reference: Pick<TemplateRecord, 'id' | 'sealed'>,
  ): Pick<ReferenceContent, 'photoCount' | 'consent'> {
    const { views: photoCount = 1, consent } = unpackTemplate(
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
    const { header, bytes } = unpackTemplate(open(dataKey, sealed, id))
    await tx.resealReference({
      id,
      sealed: sealWithin(dataKey, packTemplate({ ...header, consent }, bytes), id),
    })
    return header.consent
  }

  /** @throws DomainError reference_model_mismatch for a template that was dropped when its model pack went */
  openReference(
    { record, dataKey }: Pick<Subject, 'record' | 'dataKey'>,
    { id, sealed }: Pick<TemplateRecord, 'id' | 'sealed'>,
  ): ReferenceContent {
    const { header, bytes } = unpackTemplate(open(dataKey, sealed, id))
    const { consent, transform, views: photoCount = 1, weight = 1 } = header
    if (header.dropped) throw new DomainError('reference_model_mismatch', { message: DROPPED })
    // References from before transforms hold the embedding as it is, in float32.
    if (transform === undefined)
      return { embedding: new Float32Array(aligned(bytes)), photoCount, weight, consent }
    const stored = new Float64Array(aligned(bytes))
    const inverse = this.transformOf(record.tenantId, id)(stored.length)
    return { embedding: inverse.invert(stored), photoCount, weight, consent }
  }

  /**
   * Opens a reference for a comparison with those of other users, whose ids nobody gave. The data key is overwritten.
   * @returns null for a reference whose embedding was deleted with its model pack
   */
  openReferenceOf(record: SubjectRecord, reference: ReferenceRecord): ReferenceContent | null {
    const dataKey = this.dataKey(record)
    try {
      return this.isDropped({ dataKey }, reference)
        ? null
        : this.openReference({ record, dataKey }, reference)
    } finally {
      dataKey.fill(0)
    }
  }

  /**
   * Digest of a capture, keyed by the user's own key: without it nobody can even check a guess at the image.
   * @param imageHash SHA-256 of the image
   */
  captureDigest(subject: Subject, imageHash: Uint8Array): Buffer {
    return createHmac('sha256', subject.captureKey).update(imageHash).digest()
  }

  /** Digest of an action for the audit log, in hex, keyed by the user's own key: nobody can check a guess at the action without the key. */
  auditDigest(subject: Subject, actionHash: string): string {
    return createHmac('sha256', subject.auditKey).update(actionHash).digest('hex')
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
    return sealWithin(subject.dataKey, Buffer.from(userId), 'user-id')
  }

  /** @param dataKey of the user */
  openUserId(dataKey: Buffer, sealed: Buffer): string {
    return open(dataKey, sealed, 'user-id').toString()
  }

  /** Keeps a consent text that a session of the user brought as its own, until the user is erased. */
  async keepOwnConsent(
    tx: StoreTransaction,
    { record: { id: subjectId, tenantId }, dataKey }: Pick<Subject, 'record' | 'dataKey'>,
    { text, ...agreed }: AgreedText,
  ): Promise<void> {
    const sealed = sealWithin(dataKey, Buffer.from(text), consentContext(agreed.sha256))
    await tx.keepOwnConsentText({ tenantId, subjectId, ...agreed, sealed })
  }

  openOwnConsent(
    { dataKey }: Pick<Subject, 'dataKey'>,
    { sha256, version, language, sealed, firstAgreedAt }: OwnConsentTextRecord,
  ): AgreedText {
    const text = open(dataKey, sealed, consentContext(sha256)).toString()
    return { sha256, version, language, text, firstAgreedAt }
  }

  /** @param model that embedded the capture */
  sealCapture(subject: Subject, capture: Float32Array, model: string): Buffer {
    const tag = Buffer.alloc(MODEL_TAG_BYTES)
    tag.writeUInt32LE(this.modelTag(model))
    const plaintext = Buffer.concat([Buffer.of(TAGGED_CAPTURE), tag, bytesOf(capture)])
    return sealWithin(subject.dataKey, plaintext, 'capture')
  }

  /** @returns the capture in the space of `captureOf` */
  openCapture(subject: Subject, sealed: Buffer): RememberedFace {
    const plaintext = open(subject.dataKey, sealed, 'capture')
    // Captures from before transforms have no leading byte and hold the embedding as it is.
    if (plaintext.length % Float32Array.BYTES_PER_ELEMENT !== 1)
      return { face: this.captureOf(subject, new Float32Array(aligned(plaintext))), modelTag: null }
    const isTagged = plaintext[0] === TAGGED_CAPTURE
    const start = isTagged ? 1 + MODEL_TAG_BYTES : 1
    const face = new Float32Array(aligned(plaintext.subarray(start)))
    return { face, modelTag: isTagged ? plaintext.readUInt32LE(1) : null }
  }

  /** A number that stands for a model next to a remembered capture. */
  modelTag(model: string): number {
    let tag = this.modelTags.get(model)
    if (tag === undefined) {
      tag = createHash('sha256').update(model).digest().readUInt32LE(0)
      this.modelTags.set(model, tag)
    }
    return tag
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

function consentContext(sha256: Buffer): string {
  return `consent ${sha256.toString('hex')}`
}
