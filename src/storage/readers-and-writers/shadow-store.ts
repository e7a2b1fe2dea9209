/** Reading and writing of the counts of a candidate. */
import type { ShadowRecord } from '../records.js'

export interface ShadowReader {
  /** The rows from a time on (inclusive), oldest first. */
  shadow(tenantId: string, since: number): Promise<ShadowRecord[]>
  shadowAt(key: Omit<ShadowRecord, 'counts'>): Promise<ShadowRecord | undefined>
}

export interface ShadowWriter {
  /** Inserts a row, or replaces the one of the same tenant, model, candidate and day. */
  putShadow(row: ShadowRecord): Promise<void>
}
