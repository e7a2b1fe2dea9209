/** Users of the service in memory: enrolls, challenges, verifies and erases them as the sandbox does. No photo is decoded. */
import { acrOf } from '../../../src/contract/acr.js'
import { CAPTURE_LIMITS } from '../../../src/contract/capture-limits.js'
import {
  CHALLENGE_PHOTOS,
  LOCKED_OUT_SECONDS,
  SANDBOX_MODEL,
  sandboxOutcome,
} from '../../../src/contract/sandbox-rules.js'
import type { Challenge, User } from '../types.js'
import {
  assertLive,
  integrityOf,
  livenessMethods,
  livenessOf,
  photoPaths,
  photosOf,
  qualityOf,
  screen,
} from './captures.js'
import {
  assertChallengeRequest,
  displayFor,
  FakeChallenges,
  methodFor,
  type OpenedChallenge,
  shownAs,
  stepsFor,
  subjectOf,
  usingUp,
} from './challenges.js'
import type { FakeInstallation } from './installation.js'
import { FakePasskeys } from './passkeys.js'
import { assertMovements } from './policy.js'
import { FakeRefusal, refuseRequest } from './refusals.js'
import { type Call, refuseUnseen } from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { isoTime } from './test-clock.js'
import { FakeVerdicts } from './verdicts.js'

/** How long a repeated erasure gets the same receipt. */
const RECEIPT_MS = 86_400_000
/** Life of a challenge, in seconds. */
const TTL_SECONDS = 90

export class FakeUsers {
  readonly passkeys: FakePasskeys
  readonly verdicts: FakeVerdicts
  private readonly users = new Map<string, Pick<User, 'enrolled_at' | 'reference'>>()
  /** Bodies of the answers to erasures by user id: an erasure that is repeated in time gets the same one. */
  private readonly receipts = new Map<string, { body: object; untilMs: number }>()
  private readonly challenges: FakeChallenges

  constructor(private readonly service: FakeInstallation) {
    this.challenges = new FakeChallenges(service.clock)
    this.passkeys = new FakePasskeys(service, this.challenges, (userId) => this.find(userId))
    this.verdicts = new FakeVerdicts(service, this.passkeys)
  }

  async enroll(call: Call): Promise<FakeAnswer> {
    const { body } = call
    const { user_id, replace, add, dry_run, challenge, passkey_registration } = body
    if (add && replace) refuseRequest('add', 'give either `add` or `replace`')
    if (dry_run && challenge) refuseRequest('dry_run', 'a challenge is good for one call: assess photos')
    if (passkey_registration && (!challenge || add))
      refuseRequest('passkey_registration', 'belongs to `challenge`, without `add`')
    const photos = photosOf(body)
    refuseUnseen(user_id)
    const opened = this.openChallenge(call, 'enroll')
    return usingUp(opened ? [opened] : [], () =>
      this.enrolPhotos(call, opened, photoPaths(body, opened ? CHALLENGE_PHOTOS : photos.length)),
    )
  }

  /** @param paths fields of the request that hold the photos of the reference */
  private async enrolPhotos(
    call: Call,
    opened: OpenedChallenge | null,
    paths: readonly string[],
  ): Promise<FakeAnswer> {
    const { clock, checksLiveness } = this.service
    const { user_id, replace, add, dry_run, consent, verification_id } = call.body
    const storePasskey = this.passkeys.registrationOf(call.body)
    const present = this.users.get(user_id)
    if (!dry_run) this.assertEnrollable(call.body)
    await screen(call, 'enroll', clock)
    const liveness = livenessOf(user_id, opened, checksLiveness)
    assertLive(call.body, liveness)
    const views = (add && !dry_run ? (present?.reference.views ?? 0) : 0) + paths.length
    const assessed = {
      user_id,
      quality: { ...qualityOf(call.body, paths), views },
      liveness,
      capture_integrity: integrityOf(call.body),
      model: SANDBOX_MODEL,
    }
    if (dry_run) return { status: 200, body: { ...assessed, status: 'assessed' } }
    // A passkey that cannot be stored refuses the enrollment as well.
    const passkey = storePasskey?.() ?? null
    if (replace) this.passkeys.usePermit(verification_id)
    const created_at = isoTime(clock.now())
    const reference_id = fakeId('ref')
    this.users.set(user_id, {
      enrolled_at: present?.enrolled_at ?? created_at,
      reference: {
        reference_id,
        created_at,
        model: SANDBOX_MODEL,
        comparable: true,
        views,
        consent: consent ?? (add ? (present?.reference.consent ?? null) : null),
      },
    })
    this.receipts.delete(user_id)
    const body = { reference_id, ...assessed, status: 'enrolled', created_at, passkey }
    return { status: 201, body }
  }

  async verify(call: Call): Promise<FakeAnswer> {
    const { body } = call
    photosOf(body)
    // An id of the service as nonce would look like a statement of the service.
    if (!call.captureSession && /^[a-z]{3}_[0-9a-f]{32}$/.test(body.nonce ?? ''))
      refuseRequest('nonce', 'must not have the form of an id of this service; send a random text')
    const opened = this.openChallenge(call, 'verify')
    const assertion = this.passkeys.openAssertion(body)
    const used = [opened, assertion?.challenge].filter((one) => one != null)
    return usingUp(used, () => {
      const passkey = assertion && this.passkeys.prove(body)
      const { reference } = this.users.get(body.user_id) ?? {}
      return this.verdicts.reach(call, { opened, passkey, reference })
    })
  }

  read(userId: string): FakeAnswer {
    const isLocked = sandboxOutcome(userId) === '+locked_out'
    const lockoutEnds = this.service.clock.now() + 1000 * LOCKED_OUT_SECONDS
    const body: User = {
      user_id: userId,
      status: 'enrolled',
      ...this.find(userId),
      lockout: {
        status: isLocked ? 'locked_out' : 'none',
        ends_at: isLocked ? isoTime(lockoutEnds) : null,
        rejections: 0,
      },
      passkeys: this.passkeys.of(userId).length,
    }
    return { status: 200, body }
  }

  recordConsent(userId: string, { consent }: Call['body']): FakeAnswer {
    if (consent === undefined) refuseRequest('consent', 'is required')
    const { reference } = this.find(userId)
    reference.consent = consent
    return { status: 200, body: { user_id: userId, reference_id: reference.reference_id, consent } }
  }

  erase(userId: string): FakeAnswer {
    const receipt = this.receipts.get(userId)
    const now = this.service.clock.now()
    if (receipt && now < receipt.untilMs) return { status: 200, body: receipt.body }
    this.find(userId)
    const passkeys = this.passkeys.of(userId).length
    const erased = { references: 1, captures: 0, passkeys, idempotency_records: 0 }
    this.users.delete(userId)
    this.passkeys.forget(userId)
    this.verdicts.forget(userId)
    const erased_at = isoTime(now)
    const body = { user_id: userId, status: 'erased', erasure_id: fakeId('era'), erased_at, erased }
    this.receipts.set(userId, { body, untilMs: now + RECEIPT_MS })
    return { status: 200, body }
  }

  /** Checks that a capture for this request could succeed, before a link is made. @throws FakeRefusal */
  assertCapturable({ body }: Call): void {
    assertChallengeRequest(body)
    const { purpose = 'verify', modes } = body
    this.assertLivenessOffered(body, modes === undefined || modes.length > 0)
    if (purpose === 'verify') this.assertVerifiable(body)
    else this.assertEnrollable(body)
    this.passkeys.assertUsable(body)
  }

  async challenge({ body }: Call): Promise<FakeAnswer> {
    assertChallengeRequest(body)
    const { user_id, purpose = 'verify', modes } = body
    if (purpose === 'verify') this.assertVerifiable(body)
    this.passkeys.assertUsable(body)
    const display = await displayFor(body)
    const method = methodFor(modes)
    const shown = display && shownAs(display, 'challenge')
    const asked = { method, display: shown }
    const issued = this.challenges.issue(subjectOf(purpose, body), 1000 * TTL_SECONDS, asked)
    const passkey = await this.passkeys.optionsFor(body, issued.nonce, 1000 * TTL_SECONDS)
    const challenge: Challenge = {
      ...issued,
      user_id,
      purpose,
      method,
      steps: stepsFor(modes),
      capture: CAPTURE_LIMITS,
      expires_in: TTL_SECONDS,
      ...(display && { display }),
    }
    return { status: 201, body: passkey === undefined ? challenge : { ...challenge, passkey } }
  }

  /** @returns null for a request with photos @throws FakeRefusal */
  private openChallenge({ body }: Call, purpose: 'verify' | 'enroll'): OpenedChallenge | null {
    const { challenge } = body
    const opened = challenge ? this.challenges.open(challenge, subjectOf(purpose, body)) : null
    this.assertLivenessOffered(body, Boolean(opened?.method))
    return opened
  }

  /** @throws FakeRefusal liveness_required, liveness_unavailable */
  private assertLivenessOffered({ require_liveness }: Call['body'], isActive: boolean): void {
    const asksFor = (kind: string) => require_liveness === kind || require_liveness === 'both'
    if (asksFor('active') && !isActive) throw new FakeRefusal('liveness_required')
    if (asksFor('passive') && !this.service.checksLiveness) throw new FakeRefusal('liveness_unavailable')
  }

  /** @throws FakeRefusal reference_not_found, already_enrolled, replace_verdict_required */
  private assertEnrollable(body: Call['body']): void {
    const { user_id, add, replace } = body
    const isPresent = this.users.has(user_id)
    if (add) this.find(user_id)
    else if (isPresent && !replace) throw new FakeRefusal('already_enrolled')
    if (isPresent && replace) this.passkeys.assertReplaceable(body)
  }

  /**
   * Refuses a capture for a verification that cannot succeed: of an unknown user whose id chooses no outcome, of one who is locked out,
   * and with movements that the policy finds too few.
   * @throws FakeRefusal reference_not_found, locked_out, policy_not_met
   */
  private assertVerifiable({ user_id, action, modes }: Call['body']): void {
    const { policy, checksLiveness } = this.service
    const outcome = sandboxOutcome(user_id)
    if (outcome === null) this.find(user_id)
    if (outcome === '+locked_out') throw new FakeRefusal('locked_out')
    assertMovements(policy, action, acrOf(livenessMethods(methodFor(modes), checksLiveness), true))
  }

  /** @throws FakeRefusal reference_not_found */
  private find(userId: string): Pick<User, 'enrolled_at' | 'reference'> {
    const user = this.users.get(userId)
    if (!user) throw new FakeRefusal('reference_not_found')
    return user
  }
}
