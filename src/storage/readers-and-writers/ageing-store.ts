/** Reading and writing the templates that references have become by captures that were taken in after strong matches. */
import type { AgedReferenceRecord } from '../records.js'

export interface AgeingReader {
  /** Number of the tenant's references that have taken a capture in. */
  countAgedReferences(tenantId: string): Promise<number>
}

export interface AgeingWriter {
  /**
   * Stores what a reference has become.
   * @param before id of the aged template from which the new one was made; null where it was made from the reference
   * @returns false where reference or aged template are not those any more, so that nothing was written
   */
  putAgedReference(aged: AgedReferenceRecord, before: string | null): Promise<boolean>
  /**
   * Deletes aged templates of a tenant, so that the references count as they were enrolled.
   * @param subjectId the user; null for some of all users
   * @returns how many; 0 when none is left
   */
  deleteAgedReferences(tenantId: string, subjectId: string | null): Promise<number>
}
