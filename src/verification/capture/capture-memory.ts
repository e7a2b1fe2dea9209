/** Detects replayed captures: the same image, or a nearly identical face, seen before for the user within 24 hours. */

import { sha256 } from '../../crypto/sha256.js'
import { type Clock, DAY_MS } from '../../lib/clock.js'
import type { CaptureRecord } from '../../storage/records.js'
import type { Store, StoreTransaction } from '../../storage/store.js'
import type { RememberedFace, Subject, TemplateVault } from '../../users/template-vault.js'

const REPLAY_WINDOW_MS = DAY_MS
/** Number of remembered faces that one verify opens, the newest ones. Files are compared with all remembered digests. */
const MAX_CAPTURES = 64

/** A request's images in the form in which they are compared and remembered. */
export interface Capture {
  /** Digest of each image, keyed by the user's data key. */
  digests: Buffer[]
  /** Face of each usable image, by the image's index: made by `facesOf`. */
  faces: ReadonlyMap<number, Float32Array>
  /** Id of the model that embedded the faces. */
  model: string
}

/** Why a capture counts as replayed: the same file, or a nearly identical face. */
export type Replay = 'file' | 'face'

/** Remembered captures of a user, as they were when they were read. */
export interface Recollection {
  /** Digest of each image of the request. */
  digests: Buffer[]
  /** Whether one of the images was remembered before. */
  hasFile: boolean
  faces: RememberedFace[]
  /** Row id of the last capture that was read. */
  last: number
}

export const NOTHING_RECALLED: Recollection = { digests: [], hasFile: false, faces: [], last: 0 }

/** A user whose captures are compared. */
interface CapturedUser {
  id: string
  /** The user's record and data key; null for a user who is not enrolled. */
  subject: Subject | null
}

interface StoredCapturesParts {
  store: Store
  vault: TemplateVault
  clock: Clock
  /** Whether two embeddings of one model and one length are so alike that they are of one capture. */
  isSameCapture: (model: string, a: Float32Array, b: Float32Array) => boolean
}

/** The sandbox has one that keeps nothing. */
export type CaptureMemory = Pick<StoredCaptures, keyof StoredCaptures>

export class StoredCaptures {
  constructor(private readonly parts: StoredCapturesParts) {}

  /** SHA-256 of each image. Large images are hashed on another thread. */
  hash(images: Buffer[]): Promise<Buffer[]> {
    return Promise.all(images.map(sha256))
  }

  /** Keyed digests of images. @param hashes SHA-256 of each image */
  digest(subject: Subject, hashes: Buffer[]): Buffer[] {
    return hashes.map((hash) => this.parts.vault.captureDigest(subject, hash))
  }

  /** Embeddings, by the index of their image, transformed into the space of the user's remembered captures. */
  facesOf(subject: Subject, embeddings: ReadonlyMap<number, Float32Array>): Map<number, Float32Array> {
    const { vault } = this.parts
    return new Map([...embeddings].map(([index, embedding]) => [index, vault.captureOf(subject, embedding)]))
  }

  /**
   * Digests the images and reads what is remembered of the user: all the work that needs no embeddings of the images.
   * @param dimensions length of the embeddings that the images will have
   */
  async recall({ subject }: CapturedUser, images: Buffer[], dimensions: number): Promise<Recollection> {
    if (!subject) return NOTHING_RECALLED
    const { store, vault, clock } = this.parts
    const hashes = await this.hash(images)
    // Made while the engine computes.
    subject.captureTransform(dimensions)
    const digests = this.digest(subject, hashes)
    const since = clock.now() - REPLAY_WINDOW_MS
    const { id } = subject.record
    const { hasDigest, newest, last } = await store.read.captureHistory(id, digests, since, MAX_CAPTURES)
    const faces = newest.map((sealed) => vault.openCapture(subject, sealed))
    return { digests, hasFile: hasDigest, faces, last }
  }

  /** Replay of a capture that was remembered before `recall`; null for a fresh one. */
  findReplay(capture: Capture, { hasFile, faces }: Recollection): Replay | null {
    if (hasFile) return 'file'
    return this.holdsFace(faces, capture) ? 'face' : null
  }

  /**
   * Replay of a capture that was remembered after `recall`: of parallel requests with one capture, only the first to commit is fresh.
   * @param later captures after `Recollection.last`
   */
  findReplaySince(subject: Subject, capture: Capture, later: readonly CaptureRecord[]): Replay | null {
    if (later.some(({ digest }) => capture.digests.some((own) => own.equals(digest)))) return 'file'
    const faces = later
      .filter(({ sealed }) => sealed.length > 0)
      .map(({ sealed }) => this.parts.vault.openCapture(subject, sealed))
    return this.holdsFace(faces, capture) ? 'face' : null
  }

  /** Remembers each image of a capture. */
  async remember(tx: StoreTransaction, subject: Subject, { digests, faces, model }: Capture): Promise<void> {
    const { vault, clock } = this.parts
    for (const [index, digest] of digests.entries()) {
      const face = faces.get(index)
      await tx.insertCapture({
        subjectId: subject.record.id,
        digest,
        // Unusable images, and most frames of a challenge, have only a digest.
        sealed: face ? vault.sealCapture(subject, face, model) : Buffer.alloc(0),
        seenAt: clock.now(),
      })
    }
  }

  /** Faces of two models are never compared. */
  private holdsFace(remembered: readonly RememberedFace[], { faces, model }: Capture): boolean {
    const { isSameCapture, vault } = this.parts
    return remembered.some(
      ({ face: seen, modelTag }) =>
        (modelTag === null || modelTag === vault.modelTag(model)) &&
        [...faces.values()].some((face) => seen.length === face.length && isSameCapture(model, seen, face)),
    )
  }
}
