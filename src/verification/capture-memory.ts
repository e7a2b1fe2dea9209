/** Replayed captures: the same image, or a nearly identical embedding, seen before for the user within 24 hours. */

import { sha256 } from '../crypto/sha256.js'
import { type Clock, DAY_MS } from '../lib/clock.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { Subject, TemplateVault } from '../users/template-vault.js'

const REPLAY_WINDOW_MS = DAY_MS
/** Bounds the embeddings that one verify opens: the newest. An identical file is told among all. */
const MAX_CAPTURES = 64

/** What is compared of a request's images. */
export interface Capture {
  /** One an image, keyed by the user's data key. */
  digests: Buffer[]
  /** Of the usable images, by their place among all, as `CaptureMemory.facesOf` makes them. */
  faces: ReadonlyMap<number, Float32Array>
}

/** One of the files themselves, or a face that is nearly identical. */
export type Replay = 'file' | 'face'

/** What was remembered of a user's captures when it was asked for. */
export interface Recollection {
  /** One an image that is to be held against it. */
  digests: Buffer[]
  /** One of the images is among what is remembered. */
  hasFile: boolean
  faces: Float32Array[]
  /** The place of the last capture that was looked at. */
  last: number
}

export const NOTHING_RECALLED: Recollection = { digests: [], hasFile: false, faces: [], last: 0 }

/** A user whose captures are compared. */
export interface CapturedUser {
  id: string
  /** Null for a user who is not enrolled. */
  subject: Subject | null
}

export interface CaptureMemory {
  /** What is to be known of the images; large ones are hashed elsewhere than on this thread. */
  hash(images: Buffer[]): Promise<Buffer[]>
  /** Of images with these hashes, whose embeddings will have this many dimensions. */
  digest(subject: Subject, hashes: Buffer[], dimensions: number): Buffer[]
  /** Embeddings, by the place of their image, as they are remembered of this user: in the space of the user's captures. */
  facesOf(subject: Subject, embeddings: ReadonlyMap<number, Float32Array>): ReadonlyMap<number, Float32Array>
  /**
   * Digests the images and reads what is remembered of the user: all the work that needs no embeddings of the images.
   * @param dimensions length of the embeddings that the images will have
   */
  recall(user: CapturedUser, images: Buffer[], dimensions: number): Promise<Recollection>
  /** Whether a capture like this one was seen before; null for no. */
  findReplay(capture: Capture, recollection: Recollection): Replay | null
  /** The same of what was remembered since: of parallel requests with one capture, all but the first to commit are replays. */
  findReplaySince(
    tx: StoreTransaction,
    subject: Subject,
    capture: Capture,
    recollection: Recollection,
  ): Promise<Replay | null>
  /** Remembers each image. */
  remember(tx: StoreTransaction, subject: Subject, capture: Capture): Promise<void>
}

interface StoredCapturesParts {
  store: Store
  vault: TemplateVault
  clock: Clock
  /** Whether two embeddings of one length are so alike that they are of one capture. */
  isSameCapture: (a: Float32Array, b: Float32Array) => boolean
}

export class StoredCaptures implements CaptureMemory {
  constructor(private readonly parts: StoredCapturesParts) {}

  hash(images: Buffer[]): Promise<Buffer[]> {
    return Promise.all(images.map(sha256))
  }

  digest(subject: Subject, hashes: Buffer[], dimensions: number): Buffer[] {
    subject.captureTransform(dimensions)
    return hashes.map((hash) => this.parts.vault.captureDigest(subject, hash))
  }

  facesOf(subject: Subject, embeddings: ReadonlyMap<number, Float32Array>): Map<number, Float32Array> {
    const { vault } = this.parts
    return new Map([...embeddings].map(([index, embedding]) => [index, vault.captureOf(subject, embedding)]))
  }

  async recall({ subject }: CapturedUser, images: Buffer[], dimensions: number): Promise<Recollection> {
    if (!subject) return NOTHING_RECALLED
    const { store, vault, clock } = this.parts
    const digests = this.digest(subject, await this.hash(images), dimensions)
    const since = clock.now() - REPLAY_WINDOW_MS
    const { id } = subject.record
    const { hasDigest, newest, last } = await store.read.captureHistory(id, digests, since, MAX_CAPTURES)
    const faces = newest.map((sealed) => vault.openCapture(subject, sealed))
    return { digests, hasFile: hasDigest, faces, last }
  }

  findReplay(capture: Capture, { hasFile, faces }: Recollection): Replay | null {
    if (hasFile) return 'file'
    return this.holdsFace(faces, capture) ? 'face' : null
  }

  async findReplaySince(
    tx: StoreTransaction,
    subject: Subject,
    capture: Capture,
    { last }: Recollection,
  ): Promise<Replay | null> {
    const later = await tx.capturesAfter(subject.record.id, last)
    if (later.some(({ digest }) => capture.digests.some((own) => own.equals(digest)))) return 'file'
    const faces = later
      .filter(({ sealed }) => sealed.length > 0)
      .map(({ sealed }) => this.parts.vault.openCapture(subject, sealed))
    return this.holdsFace(faces, capture) ? 'face' : null
  }

  async remember(tx: StoreTransaction, subject: Subject, { digests, faces }: Capture): Promise<void> {
    const { vault, clock } = this.parts
    for (const [index, digest] of digests.entries()) {
      const face = faces.get(index)
      await tx.insertCapture({
        subjectId: subject.record.id,
        digest,
        // An unusable image, and most frames of a challenge, are known by their digest alone.
        sealed: face ? vault.sealCapture(subject, face) : Buffer.alloc(0),
        seenAt: clock.now(),
      })
    }
  }

  private holdsFace(remembered: Float32Array[], { faces }: Capture): boolean {
    const { isSameCapture } = this.parts
    return remembered.some((seen) =>
      [...faces.values()].some((face) => seen.length === face.length && isSameCapture(seen, face)),
    )
  }
}
