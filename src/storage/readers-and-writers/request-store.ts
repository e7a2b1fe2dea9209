/** Reading and writing the request log. Entries are ordered by their ids, which begin with their time. */
import type { Environment } from '../../config/config.js'
import type { RequestRecord } from '../records.js'

/** A text that sorts after every request id. */
export const LAST_REQUEST_ID = 'g'

export interface RequestListing {
  tenantId: string
  environment: Environment
  /** The earliest request id to list (inclusive). */
  from: string
  /** The request id at which the list ends (exclusive). */
  before: string
  limit: number
  /** Only requests with this error code or reason. */
  code?: string
  /** Only requests for the user of this pseudonym, with any code or none. */
  subject?: string
}

export interface RequestReader {
  /** Entries of one listing, newest first. */
  requests(listing: RequestListing): Promise<RequestRecord[]>
  /** Entries that have the id as request id, client request id or verification id, in both environments, newest first. */
  requestsNamed(tenantId: string, id: string, limit: number): Promise<RequestRecord[]>
}

export interface RequestWriter {
  /** Inserts an entry, unless the request is in the log already. */
  insertRequest(request: RequestRecord): Promise<void>
  /** Keeps only the newest `most` requests with a code and the newest `most` without a code. */
  trimRequests(tenantId: string, environment: Environment, most: number): Promise<void>
  /** Deletes requests with an id before this one, oldest first. @returns how many */
  deleteRequests(before: string, limit: number): Promise<number>
}
