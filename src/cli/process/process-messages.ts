/** The messages between the supervisor and its service processes. */
import type { MetricsSnapshot } from '../../http/metrics/metrics.js'
import type { AnnouncementOptions } from '../serve/announcement.js'
import type { Addresses } from './processes.js'

export interface StartOrder {
  kind: 'start'
  name: string
  /** From 0. */
  index: number
  count: number
  addresses: Addresses
  /** The model pack, which the supervisor has made ready. */
  modelPack: string
  options: AnnouncementOptions
}

/** Messages to a service process. */
export type Order =
  | StartOrder
  /** Sent only to the first process, when all are ready. */
  | { kind: 'announce'; warnings: string[] }
  | { kind: 'reload' }
  | { kind: 'ping' }
  /** Another process has taken over: stop when no connection is left. */
  | { kind: 'leave' }
  | { kind: 'stop'; signal: string }
  | { kind: 'give_metrics'; id: number }
  | { kind: 'metrics_of_others'; id: number; snapshots: MetricsSnapshot[] }

/** Messages from a service process. */
export type Report =
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'announced' }
  | { kind: 'want_metrics'; id: number }
  | { kind: 'metrics'; id: number; snapshot: MetricsSnapshot }
