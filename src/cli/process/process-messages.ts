/** What the supervisor and its service processes say to each other. */
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import type { AnnouncementOptions } from '../announcement.js'
import type { Addresses } from './processes.js'

export interface StartOrder {
  kind: 'start'
  name: string
  /** From 0. */
  index: number
  count: number
  addresses: Addresses
  /** Which was seen to by the supervisor. */
  modelPack: string
  options: AnnouncementOptions
}

/** To a service process. */
export type Order =
  | StartOrder
  /** Of the first alone, when all are ready. */
  | { kind: 'announce'; warnings: string[] }
  | { kind: 'reload' }
  | { kind: 'ping' }
  /** Others have its place: stop when no connection is left. */
  | { kind: 'leave' }
  | { kind: 'stop'; signal: string }
  | { kind: 'give_metrics'; id: number }
  | { kind: 'metrics_of_others'; id: number; snapshots: MetricsSnapshot[] }

/** From a service process. */
export type Report =
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'announced' }
  | { kind: 'want_metrics'; id: number }
  | { kind: 'metrics'; id: number; snapshot: MetricsSnapshot }
