/** Reading and writing what the OpenID provider keeps: its keys, its clients, and the state of sign-ins that are under way. */
import type { Environment } from '../../config/config.js'
import type {
  OpenIdCallbackRecord,
  OpenIdClientRecord,
  OpenIdStateRecord,
  VerdictKeyRecord,
} from '../records.js'

export interface OpenIdReader {
  /** Keys that sign ID tokens, in the order in which they begin to. */
  openIdKeys(): Promise<VerdictKeyRecord[]>
  openIdClient(id: string): Promise<OpenIdClientRecord | undefined>
  /** Clients of a tenant, oldest first. */
  openIdClients(tenantId: string): Promise<OpenIdClientRecord[]>
  openIdState(lookup: Buffer): Promise<OpenIdStateRecord | undefined>
  /** Callbacks that are due and whose session is no longer open, those that wait longest first. */
  dueOpenIdCallbacks(now: number, limit: number): Promise<OpenIdCallbackRecord[]>
  /** @returns number of callbacks in force whose session is open and asks this user */
  openCallbacksOf(blindIndex: Buffer, now: number): Promise<number>
}

export interface OpenIdWriter {
  insertOpenIdKey(key: VerdictKeyRecord): Promise<void>
  setOpenIdKeyEnd(id: string, goneAt: number): Promise<void>
  deleteOpenIdKeys(environment: Environment): Promise<void>
  /** Inserts the client, or replaces its settings. */
  putOpenIdClient(client: OpenIdClientRecord): Promise<void>
  /** @returns whether there was such a client of the tenant */
  deleteOpenIdClient(tenantId: string, id: string): Promise<boolean>
  putOpenIdState(state: OpenIdStateRecord): Promise<void>
  /** Marks it as used. @returns whether it was unused before */
  useOpenIdState(lookup: Buffer, at: number): Promise<boolean>
  /** @returns whether there was such a state */
  deleteOpenIdState(lookup: Buffer): Promise<boolean>
  deleteOpenIdGrant(grantId: Buffer): Promise<void>
  /** @returns false where the request is known already */
  insertOpenIdCallback(callback: OpenIdCallbackRecord): Promise<boolean>
  putOpenIdCallback(callback: OpenIdCallbackRecord): Promise<void>
  /** Counts an attempt. @returns false where another process has counted it, or nothing is left to report */
  takeOpenIdCallback(callback: OpenIdCallbackRecord, nextAt: number): Promise<boolean>
  /** Sets when the result may be reported next, unless another attempt was counted; null where nothing is left to report. */
  setOpenIdCallbackNext(callback: OpenIdCallbackRecord, nextAt: number | null): Promise<void>
}
