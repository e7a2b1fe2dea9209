/** Compares what a verify offers with what the tenant's policy asks of an approval. */

import { acrOf, type Possession } from '../../contract/acr.js'
import { type PolicyFacts, unmetMovements, unmetOf } from '../../contract/policy-requirements.js'
import { DomainError, type ErrorDetail } from '../../lib/domain-error.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import { templateOf } from '../../users/templates.js'
import type { BiometricProvider } from '../../verification/biometric-provider.js'
import type { CaptureBinding, UserCall } from '../../verification/call.js'
import type { CaptureIntegrity } from '../../verification/capture/capture-integrity.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import type { VerdictTerms } from '../../verification/verdict.js'
import { activeMethodOf, MODES, type Mode } from '../challenges/film/exports.js'
import { policyHashIn, type RuleInForce } from './policy-book.js'
import type { PolicyServices } from './policy-services.js'

/** The facts of a verify that requirements are compared with: as offered before the comparison, or as found by it. */
export interface Offered extends Omit<PolicyFacts, 'fmr' | 'reference'> {
  /** The user; null for a user who is not enrolled, whom only the sandbox verifies. */
  subject: Subject | null
}

/**
 * The `acr` that an approval would have, if the capture passes everything that is asked of it.
 * @param film the method of the movements of a challenge, null for none; null for photos
 * @param possession proof that a passkey has given; null for none
 */
export function offeredAcr(
  { passiveLiveness }: Pick<BiometricProvider, 'passiveLiveness'>,
  film: { method: string | null } | null,
  possession: Possession | null = null,
): string {
  const methods = [
    ...(film?.method ? [film.method] : []),
    ...(passiveLiveness ? [`passive:${passiveLiveness}`] : []),
  ]
  return acrOf(methods, film !== null, possession)
}

/** @returns a detail for each requirement of the rule that is not met; none where the approval may be given */
export function unmetRequirements(
  { rule }: RuleInForce,
  { point, model }: Pick<VerdictTerms, 'point' | 'model'>,
  { subject, ...offered }: Offered,
  vault: Pick<TemplateVault, 'describeReference'>,
): ErrorDetail[] {
  const sealed = subject?.reference
  const reference = sealed && {
    createdAt: sealed.createdAt,
    describe() {
      const { consent } = vault.describeReference(subject, sealed)
      const { photoCount } = vault.describeReference(subject, templateOf(subject, model) ?? sealed)
      return { photoCount, consentId: consent?.id ?? null }
    },
  }
  return unmetOf(rule.require, { ...offered, fmr: point.fmr, reference: reference ?? null })
}

/** Whether the rule asks for a person's look at a capture with these signals. */
export function needsReview({ rule }: RuleInForce, integrity: CaptureIntegrity | null): boolean {
  return rule.require.integrity === 'review' && integrity !== null && integrity.signals.length > 0
}

/**
 * Refuses a challenge, or a session of the capture page, to which the rule for its action would give no approval.
 * @param binding of the session
 * @throws DomainError policy_not_met
 */
export async function assertCaptureMeets(
  { policies, provider, store, environment }: PolicyServices,
  call: UserCall<{ action?: unknown; modes?: Mode[] }>,
  binding?: CaptureBinding,
): Promise<void> {
  const { tenant, input } = call
  const inForce = await policies.ruleFor(store.read, call, policyHashIn(tenant, environment))
  if (!inForce) return
  const { require } = inForce.rule
  const method = activeMethodOf(input.modes ?? MODES)
  // Before anybody moves the head for it. A passkey may still come with the verify.
  const unmet = unmetMovements(require, offeredAcr(decidingProvider(provider, tenant), { method }))
  if (unmet.length > 0) throw policyNotMet(inForce, unmet)
  const required = require.capture_binding
  if (!binding || required === undefined || required === binding) return
  const issue = `is "${binding}"; "${required}" is required`
  throw policyNotMet(inForce, [{ path: 'browser', issue, requirement: 'capture_binding' }])
}

export function policyNotMet({ rule }: RuleInForce, details: ErrorDetail[]): DomainError {
  return new DomainError('policy_not_met', {
    message: `The policy of this tenant gives no approval of this action: the rule ${rule.name} is not met.`,
    details,
  })
}
