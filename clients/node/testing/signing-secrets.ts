/** The signing secrets of the service in memory, and their rotation. */
import type { SigningSecret } from '../signing-secret.js'
import { FakeRefusal } from './refusals.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { isoTime, type TestClock } from './test-clock.js'

/** Time for which both secrets are valid after a rotation. */
const OVERLAP_MS = 30 * 60_000

export class FakeSecrets {
  private secrets: [SigningSecret, ...SigningSecret[]] = [newSecret()]
  private overlapEndsMs = 0

  constructor(private readonly clock: TestClock) {}

  /** The valid secrets, newest first: two during the overlap of a rotation. */
  get active(): readonly [SigningSecret, ...SigningSecret[]] {
    if (this.clock.now() >= this.overlapEndsMs) this.secrets = [this.secrets[0]]
    return this.secrets
  }

  /** @throws FakeRefusal rotation_in_progress */
  rotate(isForced = false): FakeAnswer {
    const [previous, older] = this.active
    if (older && !isForced) throw new FakeRefusal('rotation_in_progress')
    const next = newSecret()
    this.secrets = [next, previous]
    this.overlapEndsMs = this.clock.now() + OVERLAP_MS
    const body = {
      signing_secret: { ...next, created_at: isoTime(this.clock.now()) },
      previous: { id: previous.id, valid_until: isoTime(this.overlapEndsMs) },
      overlap_seconds: OVERLAP_MS / 1000,
    }
    return { status: 200, body }
  }
}

function newSecret(): SigningSecret {
  return { id: fakeId('sec'), secret: `svc-sec-${crypto.randomUUID().replaceAll('-', '')}` }
}
