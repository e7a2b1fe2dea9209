/** Reading and writing counted verifies. */
import type { DriftRecord } from '../records.js'

export interface DriftReader {
  /** The rows of all models from a time on (inclusive), oldest first. */
  drift(tenantId: string, since: number): Promise<DriftRecord[]>
  driftAt(tenantId: string, model: string, at: number): Promise<DriftRecord | undefined>
  /** The newest row of a tenant and model. */
  newestDrift(tenantId: string, model: string): Promise<DriftRecord | undefined>
  /** The rows that have blocks, of all tenants that are not deleted: the newest of each tenant and model. */
  latestDrift(): Promise<DriftRecord[]>
}

export interface DriftWriter {
  /** Inserts a row, or replaces the one of the same tenant, model and time. */
  putDrift(row: DriftRecord): Promise<void>
  /** Sets the time from which the verifies of a tenant are compared. */
  setDriftSince(tenantId: string, since: number): Promise<void>
}
