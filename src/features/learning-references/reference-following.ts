/**
 * Adds to a user's reference the template of the model that follows, made of a capture that was approved well above the bound. So an
 * installation changes its model pack while its users do nothing but verify.
 */
import type { StoreTransaction } from '../../storage/store.js'
import { tenantModels } from '../../tenants/tenant-models.js'
import type { Subject, TemplateVault } from '../../users/template-vault.js'
import { templateOf } from '../../users/templates.js'
import type { BiometricProvider, Comparison, FusedReference } from '../../verification/biometric-provider.js'
import type { UserCall } from '../../verification/call.js'
import { decidingProvider, followingProvider } from '../../verification/references/deciding-model.js'
import type { VerdictTerms } from '../../verification/verdict.js'
import { strongMatch } from './strong-match.js'

interface ReferenceFollowingParts {
  vault: TemplateVault
  provider: BiometricProvider
}

type TenantCall = Pick<UserCall<unknown>, 'tenant'>

export class ReferenceFollowing {
  constructor(private readonly parts: ReferenceFollowingParts) {}

  /** Models that are to embed the images of a verify, because the user's templates of them lack photos. */
  modelsToEmbed({ tenant }: TenantCall, subject: Subject | null): string[] {
    const following = followingProvider(this.parts.provider, tenant)
    return following && subject?.reference && this.lacksPhotos(subject, following.model)
      ? [following.model]
      : []
  }

  /**
   * Makes a template of an approved capture, or adds the capture to the template that is there.
   * @returns the model of the template; null where the capture did not match well enough, or nothing was to be added
   */
  async follow(
    tx: StoreTransaction,
    { tenant }: TenantCall,
    subject: Subject,
    comparison: Comparison,
    terms: VerdictTerms,
  ): Promise<string | null> {
    const { vault, provider } = this.parts
    const following = followingProvider(provider, tenant)
    const { reference } = subject
    const added = following && comparison.others[following.model]
    if (!following || !reference || !added) return null
    const deciding = decidingProvider(provider, tenant)
    const template = templateOf(subject, deciding.model)
    const first = () => vault.openReference(subject, template!).embedding
    if (!template || !strongMatch(deciding, comparison, terms, first, strictFmrOf(tenant))) return null
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

  /** A template is complete once it is made of as many photos as the reference. */
  private lacksPhotos(subject: Subject, model: string): boolean {
    const { vault } = this.parts
    const template = templateOf(subject, model)
    if (!template) return true
    if (template === subject.reference) return false
    const count = (of: typeof template) => vault.describeReference(subject, of).photoCount
    return count(template) < count(subject.reference!)
  }
}

function strictFmrOf(tenant: TenantCall['tenant']): number {
  return tenantModels(tenant)?.strictFmr ?? 1
}
