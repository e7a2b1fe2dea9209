/** Compares what a verify offers with what a rule of the policy asks of an approval. */
import { missingChecks } from './acr.js'
import type { PolicyRequirements } from './action-policy.js'

const DAY_MS = 86_400_000

/** The reference of the user, as far as a policy asks about it. */
export interface PolicyReference {
  /** Time of the last enrollment or added photo, in milliseconds since the Unix epoch. */
  createdAt: number
  /** Photos and consent of the reference. It is called only where the rule asks for either. */
  describe(): { photoCount: number; consentId: string | null }
}

/** The facts of a verify that requirements are compared with: as offered before the comparison, or as found by it. */
export interface PolicyFacts {
  /** The `acr` that an approval has, or would have. */
  acr: string
  /** Number of images in the request. */
  images: number
  /** Whether the request brings the report of the capture, without which nobody knows of signals. */
  isReported: boolean
  /** Binding of the hosted page's session that captured; null for any other capture. */
  binding: 'same' | 'any' | null
  /** False match rate at which faces are compared. */
  fmr: number
  /** The user's reference; null for a user who is not enrolled, whom only the sandbox verifies. */
  reference: PolicyReference | null
  /** Time of the verdict, in milliseconds since the Unix epoch. */
  at: number
}

/** A requirement that is not met, as an entry of the `details` of `policy_not_met`. */
export interface UnmetRequirement {
  path: string
  issue: string
  requirement: keyof PolicyRequirements
}

/** @returns an entry for each requirement that is not met; none where the approval may be given */
export function unmetOf(required: PolicyRequirements, facts: PolicyFacts): UnmetRequirement[] {
  const { acr, images, isReported, binding, fmr, reference, at } = facts
  const details: UnmetRequirement[] = []
  const refuse = (requirement: UnmetRequirement['requirement'], path: string, issue: string) =>
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
  if (required.max_fmr !== undefined && fmr > required.max_fmr)
    refuse(
      'max_fmr',
      'action',
      `is compared at ${fmr} at best by the model pack; ${required.max_fmr} is required`,
    )
  if (required.min_photos !== undefined && images < required.min_photos)
    refuse('min_photos', 'images', `has ${images}; at least ${required.min_photos} are required`)
  if (required.integrity !== undefined && !isReported)
    refuse('integrity', 'capture_integrity', 'is missing; the report of the capture is required')
  if (required.capture_binding !== undefined && binding !== required.capture_binding)
    refuse(
      'capture_binding',
      'browser',
      binding === null
        ? 'is missing; a session of the hosted page with "same" is required'
        : `is "${binding}"; "same" is required`,
    )
  // A user of the sandbox who is not enrolled has no reference that could be too old.
  if (!reference) return details
  const { max_reference_age_days: maxDays, min_reference_photos: minPhotos, consent_id: wanted } = required
  const ageMs = at - reference.createdAt
  if (maxDays !== undefined && ageMs >= maxDays * DAY_MS)
    refuse(
      'max_reference_age_days',
      'user_id',
      `has a reference of ${Math.floor(ageMs / DAY_MS)} days; under ${maxDays} are required`,
    )
  if (minPhotos === undefined && wanted === undefined) return details
  const { photoCount, consentId } = reference.describe()
  if (wanted !== undefined && consentId !== wanted)
    refuse(
      'consent_id',
      'user_id',
      `has ${consentId === null ? 'no recorded consent' : `consented to ${JSON.stringify(consentId)}`}; ${JSON.stringify(wanted)} is required`,
    )
  if (minPhotos !== undefined && photoCount < minPhotos)
    refuse(
      'min_reference_photos',
      'user_id',
      `has a reference of ${photoCount} photos; at least ${minPhotos} are required`,
    )
  return details
}

/**
 * Compares the movements of a challenge with the rule. A passkey may still come with the verify.
 * @param acr the one that an approval by this challenge would have
 */
export function unmetMovements({ acr: required }: PolicyRequirements, acr: string): UnmetRequirement[] {
  if (required === undefined) return []
  const missing = missingChecks(required, acr).filter((check) => check !== 'hwk' && check !== 'swk')
  if (missing.length === 0) return []
  const issue = `give ${acr}, which lacks ${missing.join(', ')}; ${required} is required`
  return [{ path: 'modes', issue, requirement: 'acr' }]
}
