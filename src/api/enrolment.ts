/** Writes a user's reference inside the transaction: the first one, one that replaces another, or one with photos added to it. */

import { type Audience, eventAbout } from '../events/events.js'
import { isoTime } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreReader, StoreTransaction } from '../storage/store.js'
import type { Consent, Subject } from '../users/template-vault.js'
import { type TemplateRecord, templateOf } from '../users/templates.js'
import {
  type Enrolled,
  type Evidence,
  embeddingsByImage,
  type FusedReference,
} from '../verification/biometric-provider.js'
import type { CaptureInput, UserCall } from '../verification/call.js'
import type { CaptureIntegrity } from '../verification/capture/capture-integrity.js'
import { qualityView } from '../verification/capture/quality-views.js'
import { CLEAR } from '../verification/lockout/lockout.js'
import { announceLockout } from '../verification/lockout/lockout-event.js'
import {
  comparableTemplate,
  decidingProvider,
  followingProvider,
} from '../verification/references/deciding-model.js'
import type { Outcome, Refusal } from './endpoint.js'
import { assertReplaceVerdict } from './enrolment-checks.js'
import { includesQuality } from './schemas.js'
import type { Services } from './services.js'
import { integrityView, livenessView } from './views.js'

type EnrolCall = UserCall<
  CaptureInput & {
    replace?: boolean
    verification_id?: string
    consent?: { id: string; agreed_at: string }
    dry_run?: boolean
    include?: string[]
  }
>

/** Photos that the engine found usable. */
interface Photos {
  call: EnrolCall
  evidence: Evidence
  /** Hashes of the images, by which `CaptureMemory` remembers them. */
  hashes: Buffer[]
  enrolled: Enrolled
  /** Signals of the capture; null where the request brought no report. */
  integrity: CaptureIntegrity | null
}

/** Content of a template of the model that follows. */
interface Following {
  model: string
  reference: FusedReference
}

/** The outcome of an enrollment whose transaction has written the reference. */
export interface Stored {
  outcome: Outcome
  /** The user whose reference it is, without that reference where it is the first. */
  subject: Subject
}

/** The parts of the service that write a reference. */
type EnrolmentParts = Pick<
  Services,
  'vault' | 'store' | 'clock' | 'config' | 'provider' | 'lockout' | 'captures' | 'userQuota' | 'events'
>

export class Enrolment {
  constructor(private readonly services: EnrolmentParts) {}

  /** @throws DomainError reference_not_found, reference_model_mismatch, locked_out */
  async assertAddable(call: EnrolCall): Promise<void> {
    const { vault, store } = this.services
    this.extensible(await vault.find(store.read, call.user.blindIndex, call.user.id), call)
  }

  /**
   * Checks that a reference that exists may be replaced.
   * @throws DomainError already_enrolled, replace_verdict_required
   */
  async assertReplaceable(
    store: StoreReader,
    { input, tenant }: EnrolCall,
    { record }: Pick<Subject, 'record'>,
  ): Promise<void> {
    if (!input.replace) throw new DomainError('already_enrolled')
    await assertReplaceVerdict(store, tenant, record, input.verification_id, this.services.clock.now())
  }

  /** @throws DomainError already_enrolled, replace_verdict_required */
  async store(tx: StoreTransaction, photos: Photos): Promise<Stored> {
    const { vault, events } = this.services
    const { call, enrolled } = photos
    const { input, tenant, environment, user } = call
    const [found, audience] = await Promise.all([
      vault.find(tx, user.blindIndex, user.id),
      events.audienceOf(tx, tenant.id),
    ])
    // Checked before the lockout is cleared: a replacement without its verdict must not end one.
    if (found?.reference) await this.assertReplaceable(tx, call, found)
    const subject = found ?? vault.create(tenant.id, environment, user.blindIndex, user.id)
    if (found) await tx.setLockout(subject.record.id, CLEAR)
    else await tx.insertSubject(subject.record)
    if (found?.record.replaceVerdict) await tx.setReplaceVerdict(found.record.id, null)
    const { userQuota } = this.services
    if (found) await userQuota.noteUse(tx, subject.record)
    else await userQuota.add(tx, subject.record)
    const { reference: embedding, weight, photoCount } = enrolled
    return this.put(tx, photos, subject, {
      reference: { embedding, weight, photoCount },
      following: this.followingOf(photos),
      consent: consentOf(input),
      audit: {
        replaced: Boolean(found?.reference),
        ...(input.verification_id === undefined ? {} : { verification_id: input.verification_id }),
      },
      audience,
    })
  }

  /**
   * Adds the photos to the reference as it is inside the transaction, so that two parallel additions both count.
   * @throws DomainError reference_not_found, reference_model_mismatch, locked_out
   */
  async add(tx: StoreTransaction, photos: Photos): Promise<Stored | Refusal> {
    const { vault, config, events } = this.services
    const { call, evidence, enrolled } = photos
    const provider = decidingProvider(this.services.provider, call.tenant)
    const [found, audience] = await Promise.all([
      vault.find(tx, call.user.blindIndex, call.user.id),
      events.audienceOf(tx, call.tenant.id),
    ])
    const { subject, template } = this.extensible(found, call)
    const { consent } = vault.describeReference(subject, subject.reference!)
    const { consent: _, ...present } = vault.openReference(subject, template)
    const { threshold } = provider.operatingPoint(call.tenant.fmr ?? config.fmr)
    let reference: FusedReference
    try {
      reference = provider.extend(evidence, present, enrolled, threshold)
    } catch (error) {
      if (!(error instanceof DomainError)) throw error
      return this.refuseAddition(tx, photos, subject, error)
    }
    return this.put(tx, photos, subject, {
      reference,
      following: this.followingOf(photos, subject),
      consent: consentOf(call.input) ?? consent,
      audit: { added: reference.photoCount - present.photoCount },
      audience,
    })
  }

  /** The subject and the reference to which photos may be added. */
  private extensible(
    subject: Subject | null,
    { environment, tenant }: EnrolCall,
  ): { subject: Subject; template: TemplateRecord } {
    const { provider, lockout, clock } = this.services
    const template = comparableTemplate(subject, decidingProvider(provider, tenant), environment)
    if (!subject || !template) throw new DomainError('reference_not_found')
    const refusal = lockout.refusalOfAddition(subject.record, clock.now())
    if (refusal) throw new DomainError('locked_out', { retryAfterMs: refusal.waitMs })
    return { subject, template }
  }

  /**
   * The template of the model that follows, made of the same photos as the reference.
   * @param present the user to whose templates the photos are added; undefined where they replace or begin them
   * @returns null where nothing follows, or the model that follows could not embed each photo or has no template to add them to
   */
  private followingOf({ call, enrolled }: Photos, present?: Subject): Following | null {
    const { provider, vault } = this.services
    const following = followingProvider(provider, call.tenant)
    const added = following && enrolled.others[following.model]
    if (!added) return null
    const { model } = following
    const { photoCount } = enrolled
    if (!present) return { model, reference: { ...added, photoCount } }
    const template = templateOf(present, model)
    if (!template) return null
    return { model, reference: following.join(vault.openReference(present, template), [added], photoCount) }
  }

  private async refuseAddition(
    tx: StoreTransaction,
    { call }: Photos,
    subject: Subject,
    error: DomainError,
  ): Promise<Refusal> {
    const { lockout, clock } = this.services
    const effect = await lockout.count(tx, subject.record, { approved: false, at: clock.now() })
    await announceLockout(tx, this.services.events, call, { subject, begun: effect })
    return { refused: error, observed: { effect }, audit: { subject: subject.pseudonym, added: 0 } }
  }

  private async put(
    tx: StoreTransaction,
    { call, evidence, hashes, enrolled, integrity }: Photos,
    subject: Subject,
    parts: {
      reference: FusedReference
      following: Following | null
      consent: Consent | null
      audit: { replaced?: boolean; added?: number; verification_id?: string }
      /** The receivers of the event about the enrollment. */
      audience: Audience
    },
  ): Promise<Stored> {
    const { vault, captures } = this.services
    const { reference, following, consent, audit, audience } = parts
    const { model } = decidingProvider(this.services.provider, call.tenant)
    const ownConsent = call.captureSession?.ownConsent
    if (ownConsent) await vault.keepOwnConsent(tx, subject, ownConsent)
    const record = await vault.putReference(tx, subject, model, { ...reference, consent })
    if (following)
      await vault.putFollowing(tx, subject, record.id, following.model, { ...following.reference, consent })
    await captures.remember(tx, subject, {
      digests: captures.digest(subject, hashes),
      faces: captures.facesOf(subject, embeddingsByImage(enrolled.samples)),
      model,
    })
    const enrolment = eventAbout(subject, 'user.enrolled', {
      user_id: call.input.user_id,
      reference_id: record.id,
      model,
      views: reference.photoCount,
      replaced: audit.replaced ?? false,
      added: audit.added ?? 0,
    })
    await audience.tell(tx, enrolment)
    const outcome = {
      status: 201,
      body: {
        reference_id: record.id,
        ...assessmentOf({ call, evidence, enrolled, integrity }, reference.photoCount, model),
        status: 'enrolled',
        created_at: isoTime(record.createdAt),
      },
      sealedFor: { id: subject.record.id, dataKey: subject.dataKey },
      audit: {
        subject: subject.pseudonym,
        reference_id: record.id,
        model,
        views: reference.photoCount,
        ...(following ? { reference_followed: following.model } : {}),
        ...audit,
        ...integrityView(integrity),
        consent_recorded: call.input.consent !== undefined,
      },
      ...(integrity ? { observed: integrity } : {}),
    }
    return { outcome, subject }
  }
}

function consentOf({ consent }: EnrolCall['input']): Consent | null {
  return consent ? { id: consent.id, at: consent.agreed_at } : null
}

/** Fields of the response that assess the photos, whether they are stored or not. */
export function assessmentOf(
  { call: { input }, evidence, enrolled: { assessed, liveness }, integrity }: Omit<Photos, 'hashes'>,
  photoCount: number,
  model: string,
): Record<string, unknown> {
  const isDetailed = input.dry_run === true || includesQuality(input)
  return {
    user_id: input.user_id,
    quality: { ...qualityView(assessed, evidence.field.pathOf, isDetailed), views: photoCount },
    liveness: livenessView(liveness),
    capture_integrity: integrity,
    model,
  }
}
