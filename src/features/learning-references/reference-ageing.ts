/**
 * Lets a reference take in a capture that was approved well above the bound, so that it follows a face that ages. The reference itself
 * stays: an aged template stands next to it, is compared instead of it, and may be thrown away at any time.
 */
import { ageingBounds } from '../../../models/pack/ageing-bounds.js'
import type { Services } from '../../api/services.js'
import { DAY_MS } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import { comparedTemplate } from '../../users/templates.js'
import { decidingProvider } from '../../verification/references/deciding-model.js'
import { agedReferenceWriter } from './aged-references.js'
import { agedTemplate } from './aged-template.js'
import { type Approved, strongMatch } from './strong-match.js'

/**
 * Takes the capture of an approval in, where the days are over and the capture matches the first template well enough. While the
 * installation changes its model pack, references take nothing in: what a change is to carry over stays as it is.
 * @param at milliseconds since the Unix epoch
 * @returns similarity of the aged template and the first one, on the scale of scores; null where nothing was taken in
 */
export async function ageReference(
  { vault, provider, config }: Services,
  tx: StoreTransaction,
  tenant: TenantRecord,
  { subject, comparison, terms }: Approved,
  at: number,
): Promise<number | null> {
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
  return isWritten ? deciding.similarity(first, embedding) : null
}
