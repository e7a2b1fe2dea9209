/** Compares what a verify offers with what the tenant's policy asks of an approval. */
import type { Mode } from '../biometrics/challenge/steps.js'
import { missingChecks } from '../client/action-policy.js'
import { DAY_MS } from '../lib/clock.js'
import { DomainError, type ErrorDetail } from '../lib/domain-error.js'
import type { Subject, TemplateVault } from '../users/template-vault.js'
import { templateOf } from '../users/templates.js'
import type { BiometricProvider } from './biometric-provider.js'
import type { CaptureIntegrity } from './capture-integrity.js'
import { acrOf, activeMethodOf } from './liveness.js'
import type { Possession } from './passkey-check.js'
import type { VerdictTerms } from './verdict-terms.js'

/** The facts of a verify that requirements are compared with: as offered before the comparison, or as found by it. */
export interface Offered {
  /** The `acr` that an approval has, or would have. */
  acr: string
  /** Number of images in the request. */
  images: number
  /** Whether the request brings the report of the capture, without which nobody knows of signals. */
  isReported: boolean
  /** The user; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
  /** Time of the verdict, in milliseconds since the Unix epoch. */
  at: number
}

/**
 * The `acr` that an approval would have, if the capture passes everything that is asked of it.
 * @param modes movements of the challenge; null for photos
 * @param possession proof that a passkey has given; null for none
 */
export function offeredAcr(
  { passiveLiveness }: Pick<BiometricProvider, 'passiveLiveness'>,
  modes: readonly Mode[] | null,
  possession: Possession | null = null,
): string {
  const active = modes && activeMethodOf(modes)
  const methods = [...(active ? [active] : []), ...(passiveLiveness ? [`passive:${passiveLiveness}`] : [])]
  return acrOf({ methods }, modes !== null, possession)
}

/** @returns a detail for each requirement of the rule that is not met; none where the approval may be given */
export function unmetRequirements(
  { policy, point, model }: VerdictTerms,
  { acr, images, isReported, subject, at }: Offered,
  vault: Pick<TemplateVault, 'describeReference'>,
): ErrorDetail[] {
  if (!policy) return []
  const { require: required } = policy.rule
  const details: ErrorDetail[] = []
  const refuse = (requirement: string, path: string, issue: string) =>
    details.push({ path, issue, requirement })
  if (required.acr !== undefined) {
    const missing = missingChecks(required.acr, acr)
    if (missing.length > 0)
      refuse(
        'acr',
        'challenge',
        `gives ${acr}, which lacks ${missing.join(', ')}; ${required.acr} is required`,
      )
  }
  if (required.max_fmr !== undefined && point.fmr > required.max_fmr)
    refuse(
      'max_fmr',
      'action',
      `is compared at ${point.fmr} at best by the model pack; ${required.max_fmr} is required`,
    )
  if (required.min_photos !== undefined && images < required.min_photos)
    refuse('min_photos', 'images', `has ${images}; at least ${required.min_photos} are required`)
  if (required.integrity !== undefined && !isReported)
    refuse('integrity', 'capture_integrity', 'is missing; the report of the capture is required')
  // A user of the sandbox who is not enrolled has no reference that could be too old.
  const reference = subject?.reference
  if (!reference) return details
  const { max_reference_age_days: maxDays, min_reference_photos: minPhotos, consent_id: consentId } = required
  if (maxDays !== undefined && at - reference.createdAt >= maxDays * DAY_MS)
    refuse(
      'max_reference_age_days',
      'user_id',
      `has a reference of ${Math.floor((at - reference.createdAt) / DAY_MS)} days; under ${maxDays} are required`,
    )
  if (minPhotos !== undefined || consentId !== undefined) {
    const { photoCount, consent } = vault.describeReference(subject, templateOf(subject, model) ?? reference)
    if (consentId !== undefined && consent?.id !== consentId)
      refuse(
        'consent_id',
        'user_id',
        `has ${consent ? `consented to ${JSON.stringify(consent.id)}` : 'no recorded consent'}; ${JSON.stringify(consentId)} is required`,
      )
    if (minPhotos !== undefined && photoCount < minPhotos)
      refuse(
        'min_reference_photos',
        'user_id',
        `has a reference of ${photoCount} photos; at least ${minPhotos} are required`,
      )
  }
  return details
}

/** Whether the rule asks for a person's look at a capture with these signals. */
export function needsReview({ policy }: VerdictTerms, integrity: CaptureIntegrity | null): boolean {
  return policy?.rule.require.integrity === 'review' && integrity !== null && integrity.signals.length > 0
}

/**
 * Refuses a challenge, or a session of the capture page, whose movements are fewer than the policy asks of this action: before anybody
 * moves the head for it. A passkey may still come with the verify.
 * @throws DomainError policy_not_met
 */
export function assertMovementsMeet(
  terms: VerdictTerms,
  provider: Pick<BiometricProvider, 'passiveLiveness'>,
  modes: readonly Mode[],
): void {
  const required = terms.policy?.rule.require.acr
  if (required === undefined) return
  const acr = offeredAcr(provider, modes)
  const missing = missingChecks(required, acr).filter((check) => check !== 'hwk' && check !== 'swk')
  if (missing.length === 0) return
  const issue = `give ${acr}, which lacks ${missing.join(', ')}; ${required} is required`
  throw policyNotMet(terms, [{ path: 'modes', issue, requirement: 'acr' }])
}

/** @param details requirements that are not met */
export function policyNotMet({ policy }: VerdictTerms, details: ErrorDetail[]): DomainError {
  return new DomainError('policy_not_met', {
    message: `The policy of this tenant gives no approval of this action: the rule ${policy!.rule.name} is not met.`,
    details,
  })
}
