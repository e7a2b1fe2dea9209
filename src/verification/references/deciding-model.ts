/** Finds the provider of the model that decides for a tenant, and of the model whose templates are kept too. */
import type { Environment } from '../../config/config.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type { TenantRecord } from '../../storage/records.js'
import { decidingModel, tenantModels } from '../../tenants/tenant-models.js'
import { type TemplateRecord, type Templates, templateOf } from '../../users/templates.js'
import type { BiometricProvider } from '../biometric-provider.js'

type TenantOfModels = Pick<TenantRecord, 'models'>

/** How long a caller waits before the next attempt, which a load balancer may send to a service that has loaded the pack. */
const OTHER_SERVICE_MS = SECOND_MS

type Models = Pick<BiometricProvider, 'forModel' | 'model'>

/** Id of the model whose templates count for a tenant. For the sandbox, which answers for every model, it is the sandbox's own. */
export function comparedModel(provider: Models, tenant: TenantOfModels): string {
  const model = decidingModel(tenant, provider.model, { has: (id) => provider.forModel(id) !== null })
  return provider.forModel(model)?.model ?? model
}

/**
 * The provider whose bounds, thresholds and templates count for a tenant.
 * @throws DomainError engine_unavailable during a change of the pack, where this service has not loaded the pack that decides: an
 * enrollment by another pack would replace templates of both packs, and a verify would decide by the pack that decides no more
 */
export function decidingProvider<Provider extends Models>(
  provider: Provider,
  tenant: TenantOfModels,
): Provider {
  const model = comparedModel(provider, tenant)
  if (model === provider.model) return provider
  const deciding = provider.forModel(model)
  if (!deciding)
    throw new DomainError('engine_unavailable', {
      message: `This service has not loaded the model pack ${model}, which decides for the tenant.`,
      retryAfterMs: OTHER_SERVICE_MS,
    })
  // Every provider of an engine is of the same kind.
  return deciding as unknown as Provider
}

/** The provider of the model that does not decide and whose templates are kept; null where there is none, or it is not loaded. */
export function followingProvider(
  provider: BiometricProvider,
  tenant: TenantOfModels,
): BiometricProvider | null {
  const models = tenantModels(tenant)
  if (!models?.following) return null
  const deciding = decidingProvider(provider, tenant)
  // A service that decides by another model than the tenant's adds no template: it has not asked the right one.
  return deciding.model === models.deciding ? provider.forModel(models.following) : null
}

/**
 * The user's template of the model that decides; null for a user who is not enrolled.
 * @throws DomainError reference_model_mismatch for a user who has templates of other models only
 */
export function comparableTemplate(
  user: Templates | null,
  { model }: Pick<BiometricProvider, 'model'>,
  environment: Environment,
): TemplateRecord | null {
  const template = user && templateOf(user, model)
  if (template || !user?.reference) return template
  throw new DomainError('reference_model_mismatch', {
    message: `The reference was made with model ${user.reference.model}; ${environment} runs ${model}.`,
  })
}
