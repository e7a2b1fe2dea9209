/** What callers were told, and what was found wrong with it. */
import type { Environment } from '../../src/config/config.js'

/** Of the audit log, and the field of an entry that names the one effect. */
export const NAMED_BY = {
  enroll: 'reference_id',
  verify: 'verification_id',
  rotate_signing: 'current',
  delete: 'erasure_id',
} as const

export type AcknowledgedEvent = keyof typeof NAMED_BY

export interface Effect {
  tenantId: string
  event: AcknowledgedEvent
  /** What `NAMED_BY` names. */
  id: string
}

export interface ChaosUser {
  tenant: ChaosTenant
  environment: Environment
  userId: string
}

export interface ChaosTenant {
  id: string
  name: string
  keys: Record<Environment, string>
}

export class Journal {
  /** Of production, whose log has them. */
  readonly effects: Effect[] = []
  /** Users that must be there, and such that must be gone. */
  readonly living = new Set<ChaosUser>()
  readonly erased: ChaosUser[] = []
  /** Locks of users that the operator has ended, by tenant. */
  readonly unlocked = new Map<string, number>()
  readonly lost: string[] = []
  readonly executedTwice: string[] = []
  readonly brokenChains: string[] = []
  /** What else must not be. */
  readonly broken: string[] = []
  /** Answers that asked to come again, by code. */
  readonly refused: Record<string, number> = {}
  /** Calls that a node which was killed or stopped has left without an answer. */
  unanswered = 0
  acknowledged = 0

  acknowledge(tenant: ChaosTenant, environment: Environment, event: AcknowledgedEvent, id: string): void {
    this.acknowledged++
    if (environment === 'production') this.effects.push({ tenantId: tenant.id, event, id })
  }

  get problems(): string[] {
    return [...this.lost, ...this.executedTwice, ...this.brokenChains, ...this.broken]
  }
}
