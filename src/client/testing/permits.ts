/** Verdicts of the service in memory that allow a passkey to be registered: each once, for its user, for ten minutes. */
const PERMIT_MS = 600_000

export class FakePermits {
  private readonly granted = new Map<string, { userId: string; untilMs: number }>()

  /** Keeps an approved verify of an enrolled user with a check of liveness, where its action is a registration. */
  grant(verificationId: string, userId: string, action: unknown, nowMs: number): void {
    const isRegistration =
      typeof action === 'object' && action !== null && 'type' in action && action.type === 'register_passkey'
    if (isRegistration) this.granted.set(verificationId, { userId, untilMs: nowMs + PERMIT_MS })
  }

  allow(userId: string, verificationId: string | undefined, nowMs: number): boolean {
    const permit = this.granted.get(verificationId ?? '')
    return permit !== undefined && permit.userId === userId && nowMs < permit.untilMs
  }

  use(verificationId: string | undefined): void {
    this.granted.delete(verificationId ?? '')
  }

  forget(userId: string): void {
    for (const [id, permit] of this.granted) if (permit.userId === userId) this.granted.delete(id)
  }
}
