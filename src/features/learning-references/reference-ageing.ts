/**
 * Lets a reference take in a capture that was approved well above the bound, so that it follows a face that ages. The reference itself
 * stays: an aged template stands next to it, is compared instead of it, and may be thrown away at any time.
 */
import { ageingBounds } from '../../../models/pack/ageing-bounds.js'
import type { Config } from '../../config/config.js'
import { DAY_MS } from '../../lib/clock.js'
import type { StoreTransaction } from '../../storage/store.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import { comparedTemplate } from '../../users/templates.js'
import type { BiometricProvider, Comparison } from '../../verification/biometric-provider.js'
import type { UserCall } from '../../verification/call.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import type { VerdictTerms } from '../../verification/verdict.js'
import { agedReferenceWriter } from './aged-references.js'
import { agedTemplate } from './aged-template.js'
import { strongMatch } from './strong-match.js'

interface ReferenceAgeingParts {
  vault: TemplateVault
  provider: BiometricProvider
  config: Pick<Config, 'referenceAgeingDays'>
}

/** Facts about an aged template, for the audit log. */
interface Aged {
  /** Similarity of the aged template and the first one, on the scale of scores. */
  similarity: number
}

export class ReferenceAgeing {
  constructor(private readonly parts: ReferenceAgeingParts) {}

  /**
   * Takes the capture of an approval in, where the days are over and the capture matches the first template well enough. While the
   * installation changes its model pack, references take nothing in: what a change is to carry over stays as it is.
   * @param at milliseconds since the Unix epoch
   * @returns null where nothing was taken in
   */
  async age(
    tx: StoreTransaction,
    { tenant }: Pick<UserCall<unknown>, 'tenant'>,
    subject: Subject,
    comparison: Comparison,
    terms: VerdictTerms,
    at: number,
  ): Promise<Aged | null> {
    const { vault, provider, config } = this.parts
    const { reference, aged } = subject
    const deciding = decidingProvider(provider, tenant)
    if (config.referenceAgeingDays === 0 || tenantModels(tenant)?.following) return null
    if (reference?.model !== deciding.model) return null
    const takenInAt = Math.max(reference.createdAt, aged?.createdAt ?? 0)
    if (at - takenInAt < config.referenceAgeingDays * DAY_MS) return null
    const enrolled = vault.openReference(subject, reference)
    const first = enrolled.embedding
    const capture = strongMatch(deciding, comparison, terms, () => first)
    if (!capture) return null
    const present = vault.openReference(subject, comparedTemplate(subject, reference)).embedding
    const bounds = deciding.pack && ageingBounds(deciding.pack)
    if (!bounds) return null
    const embedding = agedTemplate(deciding.pack, bounds, { first, present, capture })
    const template = vault.sealBeside(subject, reference, { ...enrolled, embedding })
    const isWritten = await tx.statements(agedReferenceWriter).put(template, aged?.id ?? null)
    return isWritten ? { similarity: deciding.similarity(first, embedding) } : null
  }
}
