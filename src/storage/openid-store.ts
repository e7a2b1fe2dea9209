/** Reading and writing what the OpenID provider keeps: its keys, its clients, and the state of sign-ins that are under way. */
import type { OpenIdClientRecord, OpenIdStateRecord, VerdictKeyRecord } from './records.js'

export interface OpenIdReader {
  /** Keys that sign ID tokens, in the order in which they begin to. */
  openIdKeys(): Promise<VerdictKeyRecord[]>
  openIdClient(id: string): Promise<OpenIdClientRecord | undefined>
  /** Clients of a tenant, oldest first. */
  openIdClients(tenantId: string): Promise<OpenIdClientRecord[]>
  openIdState(lookup: Buffer): Promise<OpenIdStateRecord | undefined>
  openIdStateByUid(uid: Buffer): Promise<OpenIdStateRecord | undefined>
}

export interface OpenIdWriter {
  insertOpenIdKey(key: VerdictKeyRecord): Promise<void>
  setOpenIdKeyEnd(id: string, goneAt: number): Promise<void>
  /** Inserts the client, or replaces its settings. */
  putOpenIdClient(client: OpenIdClientRecord): Promise<void>
  /** @returns whether there was such a client of the tenant */
  deleteOpenIdClient(tenantId: string, id: string): Promise<boolean>
  putOpenIdState(state: OpenIdStateRecord): Promise<void>
  /** Marks it as used. @returns whether it was unused before */
  useOpenIdState(lookup: Buffer, at: number): Promise<boolean>
  deleteOpenIdState(lookup: Buffer): Promise<void>
  deleteOpenIdGrant(grantId: Buffer): Promise<void>
}
