/** Executes the steps of the hosted capture page: the code, consent, a challenge, the frames, the hand-over to a phone. */

import { messagesIn } from '../../../../clients/capture/capture-texts.js'
import {
  type InternalAnswer,
  InternalApi,
  type InternalApiParts,
  type InternalRequest,
} from '../../../http/internal-api.js'
import { isoTime } from '../../../lib/clock.js'
import type { StoreReader } from '../../../storage/store.js'
import type { TemplateVault } from '../../../users/template-vault.js'
import type { CapturedBy } from '../../../verification/call.js'
import { lockoutReason } from '../../../verification/lockout/lockout.js'
import type { DisplayNote } from '../../displayed-actions/exports.js'
import { type CaptureSession, hasAgreed } from '../capture-session-book.js'
import { resultOf } from '../capture-session-events.js'
import { capturePageWriter } from '../capture-tables.js'
import { isConfirmed, MAX_NUMBER_TRIES, tryCode } from '../confirmation-code.js'
import { captureAnswerKey } from '../get-capture-session.js'
import { type CaptureOutcome, MAX_ATTEMPTS, outcomeOf } from './capture-outcome.js'
import { consentOf, ownAgreedText } from './consent-text.js'
import type { ChallengeBody, ConsentBody, FramesBody, GuidanceBody, Visit } from './page-bodies.js'
import {
  CaptureFlowError,
  type PageState,
  SessionChanges,
  type SessionChangesParts,
} from './session-changes.js'
import { shownAction } from './shown-action.js'
import { PAGE_TEXTS } from './texts/page-languages.js'

export interface CaptureFlowParts extends SessionChangesParts, InternalApiParts {
  vault: TemplateVault
}

/** Cameras are refused, unplugged and slow: more challenges than tries, and yet not without end. */
const MAX_CHALLENGES = 15

export class CaptureFlow {
  private readonly changes: SessionChanges
  private readonly api: InternalApi

  constructor(private readonly parts: CaptureFlowParts) {
    this.changes = new SessionChanges(parts)
    this.api = new InternalApi(parts)
  }

  /** Compares what the person typed with the code of the session. The fifth wrong one ends the session. */
  async confirm({ token, language }: Visit, typed: string): Promise<PageState> {
    let isWrong = false
    const state = await this.changes.change(token, async (session) => {
      const { code } = session.content
      if (!code || code.isConfirmed) return
      const outcome = tryCode(code, typed)
      isWrong = outcome !== 'right'
      if (outcome !== 'no_tries_left') return
      endWith(session, 'code')
      return { facts: { event: 'capture_code_failed' } }
    })
    if (state.state === 'open' && isWrong) return { state: 'code', message: PAGE_TEXTS[language].code_wrong }
    return state
  }

  /**
   * Compares what the person typed at the first device with the number that the phone shows. The right one ends the session there; the
   * third wrong one ends it without a result.
   */
  async number({ token, language }: Visit, typed: string): Promise<PageState> {
    const state = await this.changes.change(
      token,
      async ({ record, content, side }) => {
        const { number } = content
        if (!number || side !== 'page') throw new CaptureFlowError('no number is asked for here')
        const outcome = tryCode(number, typed, MAX_NUMBER_TRIES)
        if (outcome === 'right') {
          record.status = 'completed'
          return { result: number.result }
        }
        if (outcome !== 'no_tries_left') return
        record.status = 'cancelled'
        return { facts: { event: 'capture_number_failed' } }
      },
      true,
    )
    return state.state === 'number' ? { ...state, message: PAGE_TEXTS[language].number_wrong } : state
  }

  /**
   * Records the agreement to the text that the page showed, and keeps that text: the tenant's or the page's own for all, a text of this
   * session's own for this user. Of a user who is not enrolled yet, the session holds it until the enrollment is committed.
   * @throws CaptureFlowError consent_changed where the page showed another text than the present one
   */
  async consent({ token, language }: Visit, shown: ConsentBody): Promise<PageState> {
    const { clock, vault } = this.parts
    return this.changes.change(token, async (session, tx) => {
      const { record, content, side } = session
      assertConfirmed(session)
      if (hasAgreed(session)) return
      if (await this.isLockedOut(session, tx)) return endWith(session, 'locked_out')
      const tenant = await tx.tenantById(record.tenantId)
      const present = consentOf(session, tenant!, language)
      if (shown.version !== present.version || shown.sha256 !== present.sha256)
        throw new CaptureFlowError('the text of the consent was changed', 'consent_changed')
      const now = clock.now()
      Object.assign(record, { consentVersion: present.version, consentedAt: now })
      content.agreedAt = side
      if (record.environment !== 'production') return
      const { version, text, sha256 } = present
      const subject = await vault.find(tx, record.blindIndex, content.captureRequest.userId)
      const own = ownAgreedText(session, language)
      if (own) {
        if (subject) await vault.keepOwnConsent(tx, subject, own)
      } else
        await tx.statements(capturePageWriter).keepText({
          tenantId: record.tenantId,
          sha256: Buffer.from(sha256, 'hex'),
          version,
          language,
          text,
          firstAgreedAt: now,
        })
      return {
        facts: {
          event: 'capture_consented',
          side,
          consent_version: version,
          consent_sha256: sha256,
          // A person who is not enrolled yet has no pseudonym: the audit entry of the enrolment names the same session.
          ...(subject ? { subject: subject.pseudonym } : {}),
        },
      }
    })
  }

  /**
   * Asks for a challenge for the capture that begins now.
   * @throws CaptureFlowError display_changed where the page does not show the text of the action as this service writes it
   */
  async challenge(visit: Visit, shown: ChallengeBody): Promise<PageState> {
    const { session, token, language } = visit
    const { record, content } = session
    const { captureRequest } = content
    assertConfirmed(session)
    assertAgreed(session)
    const display = shownAction(session, language)?.shown
    if (shown.display !== display?.hash)
      throw new CaptureFlowError('the page does not show the action', 'display_changed')
    // Every try is taken: the outcome of the captures that are being judged ends the session.
    if (record.attempts >= MAX_ATTEMPTS) return { state: 'again', message: PAGE_TEXTS[language].busy }
    if (content.challenges >= MAX_CHALLENGES) return this.end(token, 'refused')
    const { status, body } = await this.post(visit, '/v1/challenges', {
      user_id: captureRequest.userId,
      purpose: record.purpose,
      action: captureRequest.action,
      modes: captureRequest.modes,
      passkey: captureRequest.passkey,
    })
    if (outcomeOf({ status, body }).advice === 'busy')
      return { state: 'again', message: PAGE_TEXTS[language].busy }
    // The user was locked out or erased meanwhile.
    if (status !== 201) return this.end(token, body.code === 'locked_out' ? 'locked_out' : 'refused')
    const { challenge_id: id, nonce, steps, capture, expires_in, passkey = null } = body
    await this.changes.change(token, async ({ content }) => {
      content.challenge = { id: String(id), nonce: String(nonce), display }
      content.challenges++
    })
    return { state: 'challenge', challenge: { steps, capture, expires_in }, passkey }
  }

  /**
   * Takes one of the three tries before the capture is judged, so that at most three captures are judged even when more arrive at the same
   * time. The try is given back when nothing was judged, but not after a crash.
   */
  async frames(visit: Visit, { frames, passkey, signals }: FramesBody): Promise<PageState> {
    const { session, token, language } = visit
    const { record, content } = session
    const { captureRequest, challenge } = content
    const { captureSessions } = this.parts
    if (!challenge) throw new CaptureFlowError('nothing was asked for')
    if (captureRequest.passkey !== undefined && captureRequest.passkey !== 'preferred' && !passkey)
      throw new CaptureFlowError('the page has sent no passkey')
    const before = await this.takeTry(token, challenge.id)
    if (before.state !== 'open') return before
    const credential = passkey && { credential: passkey }
    const answer = await this.post(
      visit,
      `/v1/${record.purpose}`,
      {
        user_id: captureRequest.userId,
        challenge: {
          challenge_id: challenge.id,
          nonce: challenge.nonce,
          frames: frames.map((frame) => ({ ...frame, image: String(frame.image) })),
        },
        require_liveness: captureRequest.requireLiveness,
        capture_integrity: signals && { signals },
        ...(record.purpose === 'verify'
          ? {
              action: captureRequest.action,
              nonce: record.id,
              require_passkey: captureRequest.passkey === 'required',
              passkey_assertion: credential,
            }
          : {
              passkey_registration: credential,
              replace: captureRequest.replace,
              verification_id: captureRequest.verificationId,
              consent: { id: record.id, agreed_at: isoTime(record.consentedAt!) },
            }),
      },
      {
        idempotencyKey: captureAnswerKey(record.id, challenge.id),
        note: { display: challenge.display } satisfies DisplayNote,
        ownConsent: ownAgreedText(session, language),
      },
    )
    const { isJudged, isFinal, ending, waitsFor, advice } = outcomeOf(answer, captureRequest.isDiscreet)
    let triesLeft = 0
    const state = await this.changes.change(token, async (session) => {
      const { record, content, side } = session
      content.judging = (content.judging ?? []).filter((id) => id !== challenge.id)
      if (isJudged) record.answered = challenge.id
      else record.attempts--
      const isLast = record.attempts >= MAX_ATTEMPTS && content.judging.length === 0
      triesLeft = MAX_ATTEMPTS - record.attempts
      if (isFinal ? ending !== undefined : isLast) content.ending = ending ?? 'refused'
      if (waitsFor) content.waitsFor = waitsFor
      const result = isJudged ? resultOf(answer) : null
      // A capture that failed brings the first device nothing, so that it needs no number.
      if (isFinal && ending === undefined && side === 'phone' && record.binding === 'same')
        captureSessions.drawNumber(session, result)
      else if (isFinal || isLast) record.status = 'completed'
      return { result }
    })
    if (state.state === 'over' || state.state === 'number') return state
    const texts = PAGE_TEXTS[language]
    // A capture that was not judged has cost no try.
    const left = !isJudged || triesLeft === 0 ? '' : texts[triesLeft === 1 ? 'tries_left_1' : 'tries_left_2']
    const said = advice === 'busy' ? [texts.busy] : [texts.failed, messagesIn(language)[advice]]
    // Japanese has no spaces between sentences.
    const message = [...said, left].join(language === 'ja' ? '' : ' ').trim()
    return { state: 'again', message }
  }

  /** Takes a try for a challenge. Where several requests name the same challenge, only one of them succeeds. @throws CaptureFlowError */
  private takeTry(token: string, challengeId: string): Promise<PageState> {
    return this.changes.change(token, async (session) => {
      const { record, content } = session
      assertConfirmed(session)
      if (!hasAgreed(session) || content.challenge?.id !== challengeId)
        throw new CaptureFlowError('nothing was asked for')
      if (record.attempts >= MAX_ATTEMPTS) throw new CaptureFlowError('every try is taken')
      record.attempts++
      content.challenge = null
      content.judging = [...(content.judging ?? []), challengeId]
    })
  }

  /** Ends a session without another capture. @param ending the reason that the page shows to the person */
  end(token: string, ending: NonNullable<CaptureOutcome['ending']>): Promise<PageState> {
    return this.changes.change(token, async (session) => endWith(session, ending))
  }

  /** Whether the user is locked out: then no capture is made, since no verify would evaluate it. */
  async isLockedOut({ record, content }: CaptureSession, store: StoreReader): Promise<boolean> {
    const { vault, clock } = this.parts
    if (record.purpose === 'enroll' || content.captureRequest.isDiscreet) return false
    const user = await vault.find(store, record.blindIndex, content.captureRequest.userId)
    return user !== null && lockoutReason(user.record, clock.now()) !== null
  }

  /**
   * Asks the service for guidance on one small frame, which is not stored.
   * @returns the status and body of `POST /v1/guidance`
   */
  async guide(visit: Visit, { image, step, frontal }: GuidanceBody): Promise<InternalAnswer> {
    const { session } = visit
    assertConfirmed(session)
    assertAgreed(session)
    return this.post(visit, '/v1/guidance', {
      image: String(image),
      step,
      user_id: session.content.captureRequest.userId,
      frontal: frontal && String(frontal),
    })
  }

  cancel({ token }: Visit): Promise<PageState> {
    return this.changes.change(
      token,
      async ({ record }) => {
        record.status = 'cancelled'
      },
      true,
    )
  }

  /** Ends a session of which the person says that somebody else began it. */
  disown({ token }: Visit): Promise<PageState> {
    const { clock, vault } = this.parts
    return this.changes.change(
      token,
      async ({ record, content, side }, tx) => {
        Object.assign(record, { status: 'cancelled', disownedAt: clock.now() })
        const subject = await vault.find(tx, record.blindIndex, content.captureRequest.userId)
        return {
          facts: { event: 'capture_disowned', side, ...(subject ? { subject: subject.pseudonym } : {}) },
        }
      },
      true,
    )
  }

  /** @returns the token of the phone's link */
  async handOver({ token }: Visit): Promise<string> {
    let phone = ''
    await this.changes.change(token, async (session) => {
      assertConfirmed(session)
      if (!canHandOver(session)) throw new CaptureFlowError('this page may not hand over')
      phone = this.parts.captureSessions.handOver(session)
    })
    if (phone === '') throw new CaptureFlowError('the session has gone on')
    return phone
  }

  /**
   * Calls the API with the key that created the session.
   * @param capture what goes along with a capture: the key under which its answer is stored, the text that the page showed for the action,
   * and the session's own consent text
   * @throws DomainError when that key is no longer valid
   */
  private post(
    { session: { record, content }, request }: Visit,
    path: string,
    fields: Record<string, unknown>,
    {
      ownConsent,
      ...capture
    }: Pick<InternalRequest, 'idempotencyKey' | 'note'> & Pick<CapturedBy, 'ownConsent'> = {},
  ): Promise<InternalAnswer> {
    const { id, binding } = record
    const { isDiscreet } = content.captureRequest
    const captureSession = { id, binding, ownConsent }
    return this.api.send(record, request, {
      ...{ method: 'POST', path, fields, captureSession, isDiscreet },
      ...capture,
    })
  }
}

/** @param ending the reason that the page shows to the person */
function endWith({ record, content }: CaptureSession, ending: NonNullable<CaptureOutcome['ending']>): void {
  record.status = 'completed'
  content.ending = ending
}

/** @throws CaptureFlowError while the person has not typed the code */
function assertConfirmed({ content }: CaptureSession): void {
  if (!isConfirmed(content.code)) throw new CaptureFlowError('the code was not typed yet')
}

/** @throws CaptureFlowError while the person has not agreed at this device */
function assertAgreed(session: CaptureSession): void {
  if (!hasAgreed(session)) throw new CaptureFlowError('nobody has agreed yet')
}

/** Whether the page may hand the capture over to a phone. */
export function canHandOver({ content, side }: CaptureSession): boolean {
  return side === 'page' && !content.captureRequest.keepsDevice
}
