/** Users of the service in memory: enrolls, challenges, verifies and erases them as the sandbox does. No photo is decoded. */

import { acrOf } from '../../../src/contract/acr.js'
import { CHALLENGE_PHOTOS, SANDBOX_MODEL, sandboxOutcome } from '../../../src/contract/sandbox-rules.js'
import {
  includesQuality,
  integrityOf,
  livenessDetails,
  livenessOf,
  offeredMethods,
  refusePoor,
  screen,
} from './captures.js'
import { usingUp } from './ceremonies.js'
import { assertChallengeRequest, FakeChallenges, methodFor, type OpenedChallenge } from './challenges.js'
import type { FakeInstallation } from './installation.js'
import { type FakePasskeySettings, FakePasskeys } from './passkeys.js'
import { qualityAnswer } from './quality.js'
import { type FakeUser, findUser, userAnswer } from './records.js'
import { FakeRefusal } from './refusals.js'
import {
  type Call,
  photoPaths,
  photosOf,
  refuseBusy,
  refuseOwnId,
  refuseRequest,
  refuseUnseen,
} from './requests.js'
import { type FakeAnswer, fakeId } from './signatures.js'
import { FakeVerdicts } from './verdicts.js'
import { FakeVerifications } from './verifications.js'

/** Time for which a repeated erasure gets the same receipt. */
const RECEIPT_MS = 24 * 3_600_000
const CHALLENGE_MS = 90_000

export class FakeUsers {
  readonly passkeys: FakePasskeys
  private readonly users = new Map<string, FakeUser>()
  /** Receipts of erasures by user id. */
  private readonly receipts = new Map<string, { body: object; untilMs: number }>()
  private readonly challenges = new FakeChallenges()
  private readonly verifications = new FakeVerifications()
  private readonly verdicts: FakeVerdicts

  /** @param passkeys undefined for a tenant that uses none */
  constructor(
    private readonly service: FakeInstallation,
    passkeys: FakePasskeySettings | undefined,
  ) {
    this.passkeys = new FakePasskeys(passkeys, service.clock, (userId) => this.users.has(userId))
    this.verdicts = new FakeVerdicts(service, this.passkeys, this.verifications)
  }

  async enroll(call: Call): Promise<FakeAnswer> {
    const { replace, add, dry_run } = call.body
    if (add && replace) refuseRequest(call, 'add', 'give either `add` or `replace`')
    if (dry_run && call.body.challenge)
      refuseRequest(call, 'dry_run', 'a challenge is good for one call: assess photos')
    this.passkeys.assertRegistrable(call)
    const photos = photosOf(call)
    refuseUnseen(call)
    const opened = this.openChallenge(call, 'enroll')
    return usingUp(opened ? [opened] : [], () => {
      const storePasskey = this.passkeys.registrationOf(call)
      const paths = photoPaths(call, opened ? CHALLENGE_PHOTOS : photos.length)
      return this.enrolPhotos(call, opened, paths, storePasskey)
    })
  }

  /** @param paths fields of the request that hold the photos of the reference */
  private async enrolPhotos(
    call: Call,
    opened: OpenedChallenge | null,
    paths: readonly string[],
    storePasskey: ReturnType<FakePasskeys['registrationOf']>,
  ): Promise<FakeAnswer> {
    const { user_id, replace, add, dry_run = false, consent, verification_id } = call.body
    const present = this.users.get(user_id)
    if (!dry_run && add && present === undefined) throw new FakeRefusal('reference_not_found', call.requestId)
    if (!dry_run && !add && !replace && present !== undefined)
      throw new FakeRefusal('already_enrolled', call.requestId)
    if (!dry_run && replace && present !== undefined) this.passkeys.assertReplaceable(call)
    await screen(call, this.service.clock)
    const liveness = livenessOf(user_id, opened, this.service.checksLiveness)
    if (liveness.passed === false)
      throw new FakeRefusal('liveness_failed', call.requestId, livenessDetails(call, liveness))
    if (!dry_run && !opened) refusePoor(call, 'enrol')
    const integrity = integrityOf(call)
    const assessed = (views: number) => ({
      user_id,
      quality: { ...qualityAnswer(user_id, paths, dry_run || includesQuality(call)), views },
      liveness,
      capture_integrity: integrity,
      model: SANDBOX_MODEL,
    })
    if (dry_run) return { status: 200, body: { ...assessed(paths.length), status: 'assessed' } }
    // A passkey that cannot be stored refuses the enrollment as well.
    const passkey = storePasskey?.()
    if (replace) this.passkeys.permits.use(verification_id)
    const views = (add ? (present?.reference.views ?? 0) : 0) + paths.length
    const created_at = this.time()
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
    const body = {
      reference_id,
      ...assessed(views),
      status: 'enrolled',
      created_at,
      passkey: passkey ?? null,
    }
    return { status: 201, body }
  }

  async verify(call: Call): Promise<FakeAnswer> {
    photosOf(call)
    refuseOwnId(call)
    refuseBusy(call.body.user_id, call)
    const opened = this.openChallenge(call, 'verify')
    const assertion = this.passkeys.openAssertion(call)
    const used = [opened, assertion?.challenge].filter((one) => one != null)
    return usingUp(used, () => {
      const passkey = assertion && this.passkeys.prove(call)
      const shown = { ...call, display: call.display ?? opened?.display }
      return this.verdicts.reach(shown, { opened, passkey, user: this.users.get(call.body.user_id) })
    })
  }

  user(userId: string, call: Call): FakeAnswer {
    refuseBusy(userId, call)
    const user = findUser(this.users, userId, call)
    return userAnswer(userId, user, this.passkeys.of(userId).length, this.service.clock.now())
  }

  recordConsent(userId: string, call: Call): FakeAnswer {
    refuseBusy(userId, call)
    const { consent } = call.body
    if (consent === undefined) refuseRequest(call, 'consent', 'is required')
    const { reference } = findUser(this.users, userId, call)
    reference.consent = consent
    return { status: 200, body: { user_id: userId, reference_id: reference.reference_id, consent } }
  }

  verification(verificationId: string, call: Call): FakeAnswer {
    return this.verifications.read(verificationId, call)
  }

  delete(call: Call): FakeAnswer {
    const { user_id } = call.body
    refuseBusy(user_id, call)
    const now = this.service.clock.now()
    const receipt = this.receipts.get(user_id)
    if (receipt && now < receipt.untilMs) return { status: 200, body: receipt.body }
    if (!this.users.delete(user_id)) throw new FakeRefusal('reference_not_found', call.requestId)
    const passkeys = this.passkeys.of(user_id).length
    this.passkeys.forget(user_id)
    this.service.policy.forget(user_id)
    this.verifications.forget(user_id)
    const erased = { references: 1, captures: 0, passkeys, idempotency_records: 0 }
    const body = { user_id, status: 'erased', erasure_id: fakeId('era'), erased_at: this.time(), erased }
    this.receipts.set(user_id, { body, untilMs: now + RECEIPT_MS })
    return { status: 200, body }
  }

  /** Checks that a capture for this request could succeed, before a link is made. @throws FakeRefusal */
  async assertCapturable(call: Call): Promise<void> {
    assertChallengeRequest(call)
    const { user_id, purpose = 'verify', modes, replace } = call.body
    this.assertLivenessOffered(call, modes === undefined || modes.length > 0)
    if (purpose === 'verify') {
      this.assertVerifiable(call)
      await this.assertMovements(call)
    } else if (this.users.has(user_id)) {
      if (!replace) throw new FakeRefusal('already_enrolled', call.requestId)
      this.passkeys.assertReplaceable(call)
    }
    this.passkeys.assertUsable(call)
  }

  async challenge(call: Call): Promise<FakeAnswer> {
    assertChallengeRequest(call)
    const { user_id, purpose = 'verify' } = call.body
    refuseBusy(user_id, call)
    if (purpose === 'verify') {
      this.assertVerifiable(call)
      await this.assertMovements(call)
    }
    this.passkeys.assertUsable(call)
    const issued = await this.challenges.issue(call, this.service.clock.now())
    const passkey = await this.passkeys.optionsFor(call, issued.nonce, CHALLENGE_MS)
    return { status: 201, body: passkey === undefined ? issued : { ...issued, passkey } }
  }

  private openChallenge(call: Call, purpose: 'verify' | 'enroll'): OpenedChallenge | null {
    const opened = this.challenges.open(call, purpose, this.service.clock.now())
    this.assertLivenessOffered(call, Boolean(opened?.method))
    return opened
  }

  private assertLivenessOffered({ body, requestId }: Call, isActive: boolean): void {
    const { require_liveness: required = 'none' } = body
    if ((required === 'active' || required === 'both') && !isActive)
      throw new FakeRefusal('liveness_required', requestId)
    if ((required === 'passive' || required === 'both') && !this.service.checksLiveness)
      throw new FakeRefusal('liveness_unavailable', requestId)
  }

  /** Refuses movements that the policy finds too few, before anybody makes them. @throws FakeRefusal policy_not_met */
  private assertMovements(call: Call): Promise<void> {
    const { checksLiveness, policy } = this.service
    return policy.assertMovements(
      call,
      acrOf(offeredMethods(methodFor(call.body.modes), checksLiveness), true),
    )
  }

  /** Refuses a capture for a verification that cannot succeed. Users whose id chooses an outcome need no enrollment. */
  private assertVerifiable({ body, requestId }: Call): void {
    const outcome = sandboxOutcome(body.user_id)
    if (!this.users.has(body.user_id) && outcome === null)
      throw new FakeRefusal('reference_not_found', requestId)
    if (outcome === '+locked_out') throw new FakeRefusal('locked_out', requestId)
  }

  private time(): string {
    return new Date(this.service.clock.now()).toISOString()
  }
}
