/** The documents that each API serves to anybody, without an API key. */
import type { IncomingRequest } from './listeners/listener.js'

/** A document at an address of its own. It is answered to GET. */
export interface PublicDocument {
  path: string
  answer(request: IncomingRequest): DocumentReply
}

interface DocumentReply {
  status: number
  body: string
  /** Headers in addition to those that every reply has. */
  headers: Readonly<Record<string, string>>
}
