/** The signing secrets of the service in memory, and their rotation. */
import type { SigningSecret } from '../signing-secret.js'
import { FakeRefusal } from './refusals.js'
import type { Call } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import type { TestClock } from './test-clock.js'

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
  rotate(call: Call): FakeAnswer {
    const [previous, older] = this.active
    if (older && !call.body?.force) throw new FakeRefusal('rotation_in_progress', call.requestId)
    const next = newSecret()
    this.secrets = [next, previous]
    this.overlapEndsMs = this.clock.now() + OVERLAP_MS
    const body = {
      signing_secret: { ...next, created_at: new Date(this.clock.now()).toISOString() },
      previous: { id: previous.id, valid_until: new Date(this.overlapEndsMs).toISOString() },
      overlap_seconds: OVERLAP_MS / 1000,
    }
    return { status: 200, body }
  }
}

function newSecret(): SigningSecret {
  return { id: fakeId('sec'), secret: `svc-sec-${crypto.randomUUID().replaceAll('-', '')}` }
}
