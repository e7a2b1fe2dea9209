/** Answers that callers got, and problems that were found. */
import type { Environment } from '../../src/config/config.js'

/** Field of an audit entry that identifies its effect, by event. */
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
  /** Value of the field that `NAMED_BY` names. */
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
  /** Effects in production, whose audit log has them. */
  readonly effects: Effect[] = []
  /** Users that must exist, and users that must be erased. */
  readonly living = new Set<ChaosUser>()
  readonly erased: ChaosUser[] = []
  /** Number of locks of users that the operator has ended, by tenant. */
  readonly unlocked = new Map<string, number>()
  readonly lost: string[] = []
  readonly executedTwice: string[] = []
  readonly brokenChains: string[] = []
  /** Other problems. */
  readonly broken: string[] = []
  /** Number of answers that asked the caller to retry, by code. */
  readonly refused: Record<string, number> = {}
  /** Number of calls that got no answer because their node was killed or stopped. */
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
