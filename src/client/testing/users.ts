/** Users of the service in memory: enrolls, challenges, verifies and erases them as the sandbox does. No photo is decoded. */
import {
  CHALLENGE_PHOTOS,
  isFirstPhotoPoor,
  LOCKED_OUT_SECONDS,
  photoRefusal,
  SANDBOX_MODEL,
  SLOW_MS,
  sandboxOutcome,
  sandboxScript,
  scriptedLiveness,
  scriptedRejection,
} from '../sandbox-rules.js'
import type { SigningSecret } from '../signing-secret.js'
import type { ActionLike, Liveness, ModelGrade, VerifyResult } from '../types.js'
import {
  assertChallengeRequest,
  challengeLiveness,
  FakeChallenges,
  type OpenedChallenge,
} from './challenges.js'
import { qualityAnswer, qualityDetail } from './quality.js'
import { type FakeUser, findUser, userAnswer } from './records.js'
import { FakeRefusal, photoDetail } from './refusals.js'
import {
  blame,
  type Call,
  photoPaths,
  photosOf,
  refuseBusy,
  refuseRequest,
  refuseUnseen,
} from './requests.js'
import { FAKE_ERRORS } from './service-texts.js'
import { type FakeAnswer, type FakeVerdict, fakeId, UNCHECKED } from './signatures.js'
import type { FakeSecrets } from './signing-secrets.js'
import type { TestClock } from './test-clock.js'
import type { FakeVerdictKeys } from './verdict-keys.js'
import { FakeVerifications } from './verifications.js'

/** The parts of the service in memory that its users need. */
export interface FakeInstallation {
  readonly clock: TestClock
  readonly signing: FakeSecrets
  readonly verdictKeys: FakeVerdictKeys
  readonly jwtTtlSeconds: number
  readonly replayPolicy: 'mark' | 'reject'
  readonly checksLiveness: boolean
  readonly modelGrade: ModelGrade
  signVerdict(verdict: FakeVerdict, secret: SigningSecret, atMs: number): Promise<string>
}

/** Time for which a repeated erasure gets the same receipt. */
const RECEIPT_MS = 24 * 3_600_000
const THRESHOLD = 0.7
/** Scores in answers: of a face that matches, and of one that does not. */
const SCORES = { match: 0.8, noMatch: 0.6 }

export class FakeUsers {
  private readonly users = new Map<string, FakeUser>()
  /** Receipts of erasures by user id. */
  private readonly receipts = new Map<string, { body: object; untilMs: number }>()
  private readonly challenges = new FakeChallenges()
  private readonly verifications = new FakeVerifications()

  constructor(private readonly service: FakeInstallation) {}

  async enroll(call: Call): Promise<FakeAnswer> {
    const { replace, add, dry_run } = call.body
    if (add && replace) refuseRequest(call, 'add', 'give either `add` or `replace`')
    if (dry_run && call.body.challenge)
      refuseRequest(call, 'dry_run', 'a challenge is good for one call: assess photos')
    const photos = photosOf(call)
    refuseUnseen(call)
    const opened = this.openChallenge(call, 'enroll')
    return usingUp(opened, () =>
      this.enrolPhotos(call, opened, photoPaths(call, opened ? CHALLENGE_PHOTOS : photos.length)),
    )
  }

  /** @param paths fields of the request that hold the photos of the reference */
  private async enrolPhotos(
    call: Call,
    opened: OpenedChallenge | null,
    paths: readonly string[],
  ): Promise<FakeAnswer> {
    const { user_id, replace, add, dry_run = false, consent } = call.body
    const present = this.users.get(user_id)
    if (!dry_run && add && present === undefined) throw new FakeRefusal('reference_not_found', call.requestId)
    if (!dry_run && !add && !replace && present !== undefined)
      throw new FakeRefusal('already_enrolled', call.requestId)
    await this.screen(call)
    const liveness = this.liveness(user_id, opened)
    if (liveness.passed === false)
      throw new FakeRefusal('liveness_failed', call.requestId, livenessDetails(call, liveness))
    if (!dry_run && !opened) this.refusePoor(call, 'enrol')
    const assessed = (views: number) => ({
      user_id,
      quality: { ...qualityAnswer(user_id, paths, dry_run || includesQuality(call)), views },
      liveness,
      model: SANDBOX_MODEL,
    })
    if (dry_run) return { status: 200, body: { ...assessed(paths.length), status: 'assessed' } }
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
    const body = { reference_id, ...assessed(views), status: 'enrolled', created_at }
    return { status: 201, body }
  }

  async verify(call: Call): Promise<FakeAnswer> {
    photosOf(call)
    const opened = this.openChallenge(call, 'verify')
    return usingUp(opened, () => this.reachVerdict(call, opened))
  }

  private async reachVerdict(call: Call, opened: OpenedChallenge | null): Promise<FakeAnswer> {
    const { user_id, action, nonce } = call.body as { user_id: string; action: ActionLike; nonce?: string }
    const display = call.display ?? opened?.display
    const script = sandboxScript(user_id)
    if (!script.isScripted && !this.users.has(user_id))
      throw new FakeRefusal('reference_not_found', call.requestId)
    // A lockout is reported before the photo is looked at.
    if (!script.lockedOutForMs) await this.screen(call)
    if (!opened) this.refusePoor(call, 'verify')
    const replayed = script.replayed && this.service.replayPolicy === 'reject' ? 'replayed_capture' : null
    const scripted = scriptedRejection(user_id)
    const liveness = scripted === 'locked_out' ? UNCHECKED : this.liveness(user_id, opened)
    const reason =
      scripted === 'locked_out'
        ? scripted
        : liveness.passed === false
          ? 'liveness_failed'
          : (scripted ?? replayed)
    const compared = reason !== 'locked_out'
    const score =
      compared && liveness.guidance.length === 0
        ? reason === 'no_match'
          ? SCORES.noMatch
          : SCORES.match
        : null
    const verificationId = fakeId('ver')
    const atMs = this.service.clock.now() - (script.expired ? 2000 * this.service.jwtTtlSeconds : 0)
    const sign = (secret: SigningSecret) =>
      this.service.signVerdict(
        {
          userId: user_id,
          action,
          reason,
          nonce,
          display,
          score,
          replaySuspected: script.replayed,
          liveness,
          challengeId: call.body.challenge?.challenge_id,
          verificationId,
          requestId: call.requestId,
        },
        secret,
        atMs,
      )
    const [newest, older] = this.service.signing.active
    const asked = call.headers.get('x-svc-signing-key-id')
    const tokens =
      older && asked !== newest.id
        ? { jwt: await sign(older), jwt_next: await sign(newest) }
        : { jwt: await sign(newest), jwt_next: null }
    const body = {
      verification_id: verificationId,
      user_id,
      verdict: reason === null ? 'approved' : 'rejected',
      reason,
      score,
      threshold: THRESHOLD,
      fmr: 0.0001,
      fmr_basis: 'measured',
      model_grade: this.service.modelGrade,
      liveness,
      quality: compared ? qualityAnswer(user_id, photoPaths(call, 1), includesQuality(call)) : null,
      replay: { suspected: script.replayed },
      model: SANDBOX_MODEL,
      display: display ?? null,
      verified_at: this.time(),
      ...tokens,
      jwt_public: await this.service.verdictKeys.sign(tokens.jwt),
      production_key: null,
      jwt_expires_at: new Date((Math.floor(atMs / 1000) + this.service.jwtTtlSeconds) * 1000).toISOString(),
    }
    await this.verifications.keep(call, body as VerifyResult, call.captureSession ?? null)
    return {
      status: 200,
      body,
      ...(compared ? {} : { headers: { 'Retry-After': String(LOCKED_OUT_SECONDS) } }),
    }
  }

  user(userId: string, call: Call): FakeAnswer {
    refuseBusy(userId, call)
    return userAnswer(userId, findUser(this.users, userId, call), this.service.clock.now())
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
    this.verifications.forget(user_id)
    const erased = { references: 1, captures: 0, passkeys: 0, idempotency_records: 0 }
    const body = { user_id, status: 'erased', erasure_id: fakeId('era'), erased_at: this.time(), erased }
    this.receipts.set(user_id, { body, untilMs: now + RECEIPT_MS })
    return { status: 200, body }
  }

  /** Refuses a capture as the ending of the user id asks, after the wait of `+slow`. */
  private async screen(call: Call): Promise<void> {
    const { user_id } = call.body
    refuseBusy(user_id, call)
    const outcome = sandboxOutcome(user_id)
    if (outcome === '+slow') await this.service.clock.sleep(SLOW_MS, call.signal)
    if (call.body.challenge && outcome === '+challenge_expired')
      throw new FakeRefusal('challenge_expired', call.requestId)
    const code = photoRefusal(user_id)
    if (code && !call.body.challenge) throw new FakeRefusal(code, call.requestId, blame(call, code))
  }

  private refusePoor(call: Call, purpose: 'enrol' | 'verify'): void {
    const { user_id, images } = call.body
    if (!isFirstPhotoPoor(user_id)) return
    const details = [qualityDetail(images ? 'images.0' : 'image', purpose)]
    throw new FakeRefusal('low_quality', call.requestId, details)
  }

  /** Checks that a capture for this request could succeed, before a link is made. @throws FakeRefusal */
  assertCapturable(call: Call): void {
    assertChallengeRequest(call)
    const { user_id, purpose = 'verify', modes, replace } = call.body
    this.assertLivenessOffered(call, modes === undefined || modes.length > 0)
    if (purpose === 'verify') this.assertVerifiable(call)
    else if (this.users.has(user_id) && !replace) throw new FakeRefusal('already_enrolled', call.requestId)
  }

  async challenge(call: Call): Promise<FakeAnswer> {
    assertChallengeRequest(call)
    const { user_id, purpose = 'verify' } = call.body
    refuseBusy(user_id, call)
    if (purpose === 'verify') this.assertVerifiable(call)
    return { status: 201, body: await this.challenges.issue(call, this.service.clock.now()) }
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

  /** Refuses a capture for a verify that cannot succeed. Users whose id chooses an outcome need no enrollment. */
  private assertVerifiable({ body, requestId }: Call): void {
    const outcome = sandboxOutcome(body.user_id)
    if (!this.users.has(body.user_id) && outcome === null)
      throw new FakeRefusal('reference_not_found', requestId)
    if (outcome === '+locked_out') throw new FakeRefusal('locked_out', requestId)
  }

  private liveness(userId: string, opened: OpenedChallenge | null): Liveness {
    const scripted = scriptedLiveness(userId, this.service.checksLiveness)
    const methods = scripted.checked ? [`passive:${SANDBOX_MODEL}`] : []
    const passive = { ...UNCHECKED, ...scripted, methods }
    return opened ? challengeLiveness(userId, passive, opened.method) : passive
  }

  private time(): string {
    return new Date(this.service.clock.now()).toISOString()
  }
}

/** Marks the challenge as used after an answer, and after a refusal of its frames; other refusals leave it usable. */
async function usingUp(opened: OpenedChallenge | null, work: () => Promise<FakeAnswer>): Promise<FakeAnswer> {
  try {
    const answer = await work()
    opened?.use()
    return answer
  } catch (error) {
    if (error instanceof FakeRefusal && error.category === 'biometric_rejected') opened?.use()
    throw error
  }
}

function includesQuality({ body }: Call): boolean {
  return body.include?.includes('quality') ?? false
}

function livenessDetails(call: Call, { guidance }: Liveness) {
  if (!call.body.challenge) return blame(call, 'liveness_failed')
  return [photoDetail('challenge.frames', FAKE_ERRORS.liveness_failed.message, guidance[0] ?? 'not_live')]
}
