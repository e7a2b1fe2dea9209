/** Orders and results of a process that serves only the health endpoint. */
import type { TransportName } from '../../src/http/listeners/transport.js'

export type HttpOrder =
  /** First and only once: opens the store in an empty folder and listens on a free port of 127.0.0.1. */
  | { type: 'listen'; transport: TransportName; dataDir: string }
  /** Asks for the CPU time used so far. */
  | { type: 'cpu' }

export interface HttpResult {
  origin: string
  key: string
  /** CPU time of all threads since the start of the process, in milliseconds. */
  cpuMs: number
}
