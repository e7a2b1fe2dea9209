/**
 * Adds to a user's reference the template of the model that follows, made of a capture that was approved well above the bound. So an
 * installation changes its model pack while its users do nothing but verify.
 */
import type { Services } from '../../api/services.js'
import type { TenantRecord } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import type { Subject } from '../../users/template-vault.js'
import { templateOf } from '../../users/templates.js'
import type { FusedReference } from '../../verification/biometric-provider.js'
import { decidingProvider, followingProvider } from '../../verification/references/deciding-model.js'
import { type Approved, strongMatch } from './strong-match.js'

/** Models that are to embed the images of a verify, because the user's templates of them lack photos. */
export function modelsToEmbed(
  { vault, provider }: Services,
  tenant: TenantRecord,
  subject: Subject | null,
): string[] {
  const following = followingProvider(provider, tenant)
  return following && subject?.reference && lacksPhotos(vault, subject, following.model)
    ? [following.model]
    : []
}

/** A template is complete once it is made of as many photos as the reference. */
function lacksPhotos(vault: Services['vault'], subject: Subject, model: string): boolean {
  const template = templateOf(subject, model)
  if (!template) return true
  if (template === subject.reference) return false
  const count = (of: typeof template) => vault.describeReference(subject, of).photoCount
  return count(template) < count(subject.reference!)
}

/**
 * Makes a template of an approved capture, or adds the capture to the template that is there.
 * @returns the model of the template; null where the capture did not match well enough, or nothing was to be added
 */
export async function followReference(
  { vault, provider }: Services,
  tx: StoreTransaction,
  tenant: TenantRecord,
  { subject, comparison, terms }: Approved,
): Promise<string | null> {
  const following = followingProvider(provider, tenant)
  const { reference } = subject
  const added = following && comparison.others[following.model]
  if (!following || !reference || !added) return null
  const deciding = decidingProvider(provider, tenant)
  const template = templateOf(subject, deciding.model)
  const first = () => vault.openReference(subject, template!).embedding
  const strictFmr = tenantModels(tenant)?.strictFmr ?? 1
  if (!template || !strongMatch(deciding, comparison, terms, first, strictFmr)) return null
  const present = templateOf(subject, following.model)
  const { consent } = vault.describeReference(subject, reference)
  let fused: FusedReference = { ...added, photoCount: 1 }
  if (present) {
    const before = vault.openReference(subject, present)
    const { threshold } = following.operatingPoint(terms.point.fmr)
    if (following.similarity(before.embedding, added.embedding) < threshold) return null
    fused = following.join(before, [added], 1)
  }
  const only = { tenantId: tenant.id, models: tenant.models! }
  const content = { ...fused, consent }
  const isWritten = await vault.putFollowing(tx, subject, reference.id, following.model, content, only)
  return isWritten ? following.model : null
}
