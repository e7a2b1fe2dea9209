/** Replayed captures: the same image, or a nearly identical embedding, seen before for the user within 24 hours. */
import { type Clock, DAY_MS } from '../clock.js'
import { sha256 } from '../crypto/sha256.js'
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

export interface CaptureMemory {
  /** What is to be known of the images; large ones are hashed elsewhere than on this thread. */
  hash(images: Buffer[]): Promise<Buffer[]>
  /** All that can be computed of the images' hashes before their embeddings, of this many dimensions, are there. */
  digest(subject: Subject, hashes: Buffer[], dimensions: number): Buffer[]
  /** Whether a capture like this one was seen before, or is on its way in another request; null for no. */
  findReplay(
    subject: Subject,
    capture: Capture,
    call: { defer(cleanUp: () => void): void },
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
  /** By subject; the store does not know them yet. Without them, parallel requests with one capture would all pass for its first use. */
  private readonly underWay = new Map<string, Capture[]>()

  constructor(private readonly parts: StoredCapturesParts) {}

  hash(images: Buffer[]): Promise<Buffer[]> {
    return Promise.all(images.map(sha256))
  }

  digest(subject: Subject, hashes: Buffer[], dimensions: number): Buffer[] {
    subject.captureTransform(dimensions)
    return hashes.map((hash) => this.parts.vault.captureDigest(subject, hash))
  }

  async findReplay(
    subject: Subject,
    capture: Capture,
    call: { defer(cleanUp: () => void): void },
  ): Promise<Replay | null> {
    const others = this.enter(subject.record.id, capture)
    call.defer(() => this.leave(subject.record.id, capture))
    if (others.some((other) => sharesFile(other, capture)) || (await this.holdsFile(subject, capture)))
      return 'file'
    return others.some((other) => this.sharesFace(other, capture)) || (await this.holdsFace(subject, capture))
      ? 'face'
      : null
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

  private async holdsFile({ record }: Subject, { digests }: Capture): Promise<boolean> {
    const { store, clock } = this.parts
    const since = clock.now() - REPLAY_WINDOW_MS
    for (const digest of digests) if (await store.read.hasCapture(record.id, digest, since)) return true
    return false
  }

  private async holdsFace(subject: Subject, { embeddings }: Capture): Promise<boolean> {
    const { store, vault, clock } = this.parts
    const since = clock.now() - REPLAY_WINDOW_MS
    const captures = await store.read.captures(subject.record.id, since, MOST_CAPTURES)
    if (captures.length === 0) return false
    const own = [...embeddings.values()].map((embedding) => vault.captureOf(subject, embedding))
    return captures.some(({ sealed }) => {
      const seen = vault.openCapture(subject, sealed)
      return own.some((capture) => this.isNearlyIdentical(seen, capture))
    })
  }

  private sharesFace(a: Capture, b: Capture): boolean {
    return [...a.embeddings.values()].some((one) =>
      [...b.embeddings.values()].some((other) => this.isNearlyIdentical(one, other)),
    )
  }

  private isNearlyIdentical(a: Float32Array, b: Float32Array): boolean {
    return a.length === b.length && this.parts.isSameCapture(a, b)
  }

  /** @returns those that were under way before */
  private enter(subjectId: string, capture: Capture): Capture[] {
    const others = this.underWay.get(subjectId) ?? []
    this.underWay.set(subjectId, [...others, capture])
    return others
  }

  private leave(subjectId: string, capture: Capture): void {
    const rest = this.underWay.get(subjectId)!.filter((other) => other !== capture)
    if (rest.length > 0) this.underWay.set(subjectId, rest)
    else this.underWay.delete(subjectId)
  }
}

function sharesFile(a: Capture, b: Capture): boolean {
  return a.digests.some((digest) => b.digests.some((other) => other.equals(digest)))
}

/** Where no model looks at an image, nothing is remembered and nothing is a replay. */
export const NO_CAPTURES: CaptureMemory = {
  hash: async () => [],
  digest: () => [],
  findReplay: async () => null,
  remember: async () => {},
}
