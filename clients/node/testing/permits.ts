/** Verdicts of the service in memory that allow something once, for their user, for ten minutes: a passkey, or another reference. */
const PERMIT_MS = 600_000

/** Types of the actions whose approved verification allows something. */
export type PermitType = 'register_passkey' | 'replace_reference'

/** Proof that a passkey has given; null for none. */
export type Possession = 'hwk' | 'swk' | null

export interface FakePermit {
  type: PermitType
  userId: string
  possession: Possession
  untilMs: number
}

export class FakePermits {
  private readonly granted = new Map<string, FakePermit>()

  /** Keeps an approved verification of an enrolled user. */
  grant(
    verificationId: string,
    { type, userId, possession }: Omit<FakePermit, 'untilMs'>,
    nowMs: number,
  ): void {
    this.granted.set(verificationId, { type, userId, possession, untilMs: nowMs + PERMIT_MS })
  }

  find(
    type: PermitType,
    userId: string,
    verificationId: string | undefined,
    nowMs: number,
  ): FakePermit | undefined {
    const permit = this.granted.get(verificationId ?? '')
    return permit?.type === type && permit.userId === userId && nowMs < permit.untilMs ? permit : undefined
  }

  use(verificationId: string | undefined): void {
    this.granted.delete(verificationId ?? '')
  }

  forget(userId: string): void {
    for (const [id, permit] of this.granted) if (permit.userId === userId) this.granted.delete(id)
  }
}

/** Whether an action is of this type. */
export function isOfType(action: unknown, type: string): boolean {
  return typeof action === 'object' && action !== null && 'type' in action && action.type === type
}

/** The stronger of two proofs; null where there is neither. */
export function strongerOf(one: Possession, other: Possession): Possession {
  return one === 'hwk' || other === 'hwk' ? 'hwk' : (one ?? other)
}
