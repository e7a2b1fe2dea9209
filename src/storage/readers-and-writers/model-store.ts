/** Reading and writing the change from one model pack to another, and the templates that it adds next to references. */
import type { FollowingReferenceRecord, ModelCoverage, ModelMigrationRecord } from '../records.js'

export interface ModelReader {
  /** The change that is under way; undefined for none. */
  modelMigration(): Promise<ModelMigrationRecord | undefined>
  /**
   * Counts the templates of a model, tenant by tenant, for every tenant with enrolled users in production. Reads all references.
   * @param since time from which templates next to references count as recent
   */
  modelCoverage(model: string, since: number): Promise<ModelCoverage[]>
  /**
   * Blind indexes of up to `limit` production users whose reference was made by `model`, ordered by the id of the reference.
   * @param after id of the reference after which to begin (exclusive; empty for the start)
   */
  referencesMadeBy(
    model: string,
    after: string,
    limit: number,
  ): Promise<Array<{ blindIndex: Buffer; tenantId: string; referenceId: string }>>
}

export interface ModelWriter {
  /** Inserts the change, or replaces it. @param migration null for none */
  putModelMigration(migration: ModelMigrationRecord | null): Promise<void>
  /** @param models JSON; null for none */
  setTenantModels(tenantId: string, models: string | null): Promise<void>
  /**
   * Puts a template next to a reference, and removes an earlier one of the same model.
   * @param only `models` of a tenant as the caller has read them; undefined for a caller that has read them in this transaction
   * @returns false where the tenant has other models meanwhile, or the reference is gone: then nothing was written
   */
  putFollowingReference(
    template: FollowingReferenceRecord,
    only?: { tenantId: string; models: string },
  ): Promise<boolean>
  /** Replaces model and content of a reference, and deletes the template of that model next to it and the aged one. Id and time stay. */
  replaceTemplate(reference: { id: string; model: string; sealed: Buffer }): Promise<void>
  /** Deletes some of the templates of a model next to references. @returns how many; 0 when none is left */
  deleteFollowingReferences(model: string): Promise<number>
}
