/** What a process that serves health alone can be asked for, and what it answers. */
import type { TransportName } from '../../src/http/listeners/transport.js'

export type HttpOrder =
  /** Once: opens the books in an empty folder and listens on a free port of 127.0.0.1. */
  | { type: 'listen'; transport: TransportName; dataDir: string }
  /** How much CPU time it has taken so far. */
  | { type: 'cpu' }

export interface HttpResult {
  origin: string
  key: string
  /** Of all threads since the start of the process, in milliseconds. */
  cpuMs: number
}
