/** Replayed captures: the same image, or a nearly identical embedding, seen before for the user within 24 hours. */
import { type Clock, DAY_MS } from '../clock.js'
import { sha256 } from '../crypto/sha256.js'
import type { CaptureRecord } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import type { Subject, SubjectVault } from './subject-vault.js'

const REPLAY_WINDOW_MS = DAY_MS
/** Bounds the embeddings that one verify opens: the newest. An identical file is told among all. */
const MOST_CAPTURES = 64

/** What is compared of a request's images. */
export interface Capture {
  /** One an image, keyed by the user's data key. */
  digests: Buffer[]
  /** Of the usable images, by their place among all. */
  embeddings: ReadonlyMap<number, Float32Array>
}

/** One of the files themselves, or a face that is nearly identical. */
export type Replay = 'file' | 'face'

/** What was found among the captures of the time when it was looked for. */
export interface ReplayFinding {
  /** Null for none. */
  replay: Replay | null
  /** The place of the last capture that was looked at. */
  last: number
}

export interface CaptureMemory {
  /** What is to be known of the images; large ones are hashed elsewhere than on this thread. */
  hash(images: Buffer[]): Promise<Buffer[]>
  /** All that can be computed of the images' hashes before their embeddings, of this many dimensions, are there. */
  digest(subject: Subject, hashes: Buffer[], dimensions: number): Buffer[]
  /** Whether a capture like this one was seen before. */
  findReplay(subject: Subject, capture: Capture): Promise<ReplayFinding>
  /** The same of what was remembered since: of parallel requests with one capture, all but the first to commit are replays. */
  findReplaySince(
    tx: StoreTransaction,
    subject: Subject,
    capture: Capture,
    finding: ReplayFinding,
  ): Promise<Replay | null>
  /** Remembers each image. */
  remember(tx: StoreTransaction, subject: Subject, capture: Capture): Promise<void>
}

interface StoredCapturesParts {
  store: Store
  vault: SubjectVault
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

  async findReplay(subject: Subject, capture: Capture): Promise<ReplayFinding> {
    const { store, clock } = this.parts
    const since = clock.now() - REPLAY_WINDOW_MS
    const { hasDigest, newest, last } = await store.read.captureHistory(
      subject.record.id,
      capture.digests,
      since,
      MOST_CAPTURES,
    )
    if (hasDigest) return { replay: 'file', last }
    return { replay: this.holdsFace(subject, newest, capture) ? 'face' : null, last }
  }

  async findReplaySince(
    tx: StoreTransaction,
    subject: Subject,
    capture: Capture,
    { replay, last }: ReplayFinding,
  ): Promise<Replay | null> {
    if (replay === 'file') return replay
    const later = await tx.capturesAfter(subject.record.id, last)
    if (later.some(({ digest }) => capture.digests.some((own) => own.equals(digest)))) return 'file'
    const withFaces = later.filter(({ sealed }) => sealed.length > 0)
    return replay ?? (this.holdsFace(subject, withFaces, capture) ? 'face' : null)
  }

  async remember(tx: StoreTransaction, subject: Subject, { digests, embeddings }: Capture): Promise<void> {
    const { vault, clock } = this.parts
    for (const [index, digest] of digests.entries()) {
      const embedding = embeddings.get(index)
      await tx.insertCapture({
        subjectId: subject.record.id,
        digest,
        // An unusable image, and most frames of a challenge, are known by their digest alone.
        sealed: embedding ? vault.sealCapture(subject, vault.captureOf(subject, embedding)) : Buffer.alloc(0),
        seenAt: clock.now(),
      })
    }
  }

  private holdsFace(subject: Subject, captures: CaptureRecord[], { embeddings }: Capture): boolean {
    if (captures.length === 0) return false
    const { vault, isSameCapture } = this.parts
    const own = [...embeddings.values()].map((embedding) => vault.captureOf(subject, embedding))
    return captures.some(({ sealed }) => {
      const seen = vault.openCapture(subject, sealed)
      return own.some((capture) => seen.length === capture.length && isSameCapture(seen, capture))
    })
  }
}

/** Where no model looks at an image, nothing is remembered and nothing is a replay. */
export const NO_CAPTURES: CaptureMemory = {
  hash: async () => [],
  digest: () => [],
  findReplay: async () => ({ replay: null, last: 0 }),
  findReplaySince: async () => null,
  remember: async () => {},
}
