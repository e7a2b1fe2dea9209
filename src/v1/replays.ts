/** Replayed captures: the same image, or a nearly identical embedding, seen before for the user within 24 hours. */
import { DAY_MS } from '../clock.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { Subject } from '../subjects/subject-vault.js'
import type { Services } from './services.js'

export const REPLAY_WINDOW_MS = DAY_MS
/** Bounds the embeddings that one verify opens: the newest. An identical file is told among all. */
const MOST_CAPTURES = 64
/** Two captures of a living face never agree this well; a re-encoded copy of one capture does. */
const NEARLY_IDENTICAL = 0.98

/** What is compared and remembered of a request's images. */
export interface Capture {
  /** One an image, keyed by the user's data key. */
  digests: Buffer[]
  /** Of the image that counted. */
  embedding: Float32Array
}

type ReplayServices = Pick<Services, 'vault' | 'clock' | 'recogniser'>

/** Whether the store knows a capture like this. */
export async function isReplay(
  { vault, clock, recogniser }: ReplayServices,
  store: StoreReader,
  subject: Subject,
  { digests, embedding }: Capture,
): Promise<boolean> {
  const { id } = subject.record
  const since = clock.now() - REPLAY_WINDOW_MS
  for (const digest of digests) if (await store.hasCapture(id, digest, since)) return true
  const captures = await store.captures(id, since, MOST_CAPTURES)
  if (captures.length === 0) return false
  const capture = vault.captureOf(subject, embedding)
  return captures.some(({ sealed }) =>
    isNearlyIdentical(recogniser, vault.openCapture(subject, sealed), capture),
  )
}

function isNearlyIdentical(
  recogniser: ReplayServices['recogniser'],
  seen: Float32Array,
  embedding: Float32Array,
): boolean {
  return seen.length === embedding.length && recogniser.similarity(seen, embedding) >= NEARLY_IDENTICAL
}

/** What the store does not know yet: without it, parallel requests with one capture would all pass for its first use. */
export class CapturesUnderWay {
  private readonly bySubject = new Map<string, Capture[]>()

  constructor(private readonly recogniser: ReplayServices['recogniser']) {}

  /** Enters a capture and says whether one like it is on its way; `leave` is called when it is remembered or dropped. */
  enter({ record: { id } }: Subject, capture: Capture): { isReplay: boolean; leave: () => void } {
    const others = this.bySubject.get(id) ?? []
    this.bySubject.set(id, [...others, capture])
    return {
      isReplay: others.some(
        ({ digests, embedding }) =>
          digests.some((digest) => capture.digests.some((mine) => mine.equals(digest))) ||
          isNearlyIdentical(this.recogniser, embedding, capture.embedding),
      ),
      leave: () => {
        const rest = this.bySubject.get(id)!.filter((other) => other !== capture)
        if (rest.length > 0) this.bySubject.set(id, rest)
        else this.bySubject.delete(id)
      },
    }
  }
}

/** Remembers each image; `embeddings` may be fewer than the digests, where only one image counted. */
export async function rememberCaptures(
  { vault, clock }: ReplayServices,
  tx: StoreTransaction,
  subject: Subject,
  digests: Buffer[],
  embeddings: Float32Array[],
): Promise<void> {
  for (const [index, digest] of digests.entries())
    await tx.insertCapture({
      subjectId: subject.record.id,
      digest,
      sealed: vault.sealCapture(subject, vault.captureOf(subject, embeddings[index] ?? embeddings[0]!)),
      seenAt: clock.now(),
    })
}
