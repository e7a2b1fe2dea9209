/** The models of a tenant's templates, while and after the installation changes its model pack. */
import type { TenantRecord } from '../storage/records.js'

export interface TenantModels {
  /** Id of the model that decides about the tenant's verifies. */
  deciding: string
  /** Id of the model whose templates are kept too; null for none. */
  following: string | null
  /** Strictest false match rate at which a verify adds a template of `following`; null for a tenth of the rate in force. */
  strictFmr: number | null
}

/** @returns null for a tenant that has one model only, that of the pack that serves */
export function tenantModels({ models }: Pick<TenantRecord, 'models'>): TenantModels | null {
  if (models === null) return null
  const { deciding, following, strict_fmr: strictFmr } = JSON.parse(models) as Json
  return { deciding, following, strictFmr }
}

/**
 * Decides which model counts for a tenant. Outside of a change of the pack, a service that has not loaded the tenant's model decides by
 * its own: users with a template of that model are verified, and the others are asked to enroll. During a change the tenant's model
 * decides even where it is not loaded, so that the service refuses the call instead of replacing templates of both models.
 * @param own id of the service's own model
 * @param loaded ids of all models that the service has loaded
 * @returns id of the model that decides about the tenant's verifies
 */
export function decidingModel(
  tenant: Pick<TenantRecord, 'models'>,
  own: string,
  loaded: { has(model: string): boolean },
): string {
  const models = tenantModels(tenant)
  if (!models) return own
  return loaded.has(models.deciding) || models.following !== null ? models.deciding : own
}

/** @returns the text that the database keeps, the same for equal models */
export function tenantModelsJson({ deciding, following, strictFmr }: TenantModels): string {
  return JSON.stringify({ deciding, following, strict_fmr: strictFmr } satisfies Json)
}

interface Json {
  deciding: string
  following: string | null
  strict_fmr: number | null
}
