/** A model of a tenant's signing secrets over time, written from the specification without code of the service. */

export const OVERLAP_MS = 30 * 60 * 1000
export const WINDOW_MS = 24 * 60 * 60 * 1000

export interface Secret {
  id: string
  secret: string
}

export type RotationOutcome =
  | { kind: 'rotated'; previous: { id: string; validUntilMs: number } }
  | { kind: 'in_progress'; retryAfterSeconds: number }

export class RotationModel {
  /** Every secret there ever was, the current one last. */
  readonly secrets: Secret[]
  /** End of a replaced secret's validity, in milliseconds since the Unix epoch. */
  private readonly ends = new Map<string, number>()
  /** Answers to rotations with an idempotency key. */
  readonly kept = new Map<string, { status: number; text: string; expiresMs: number; force: boolean }>()

  constructor(
    first: Secret,
    private nowMs: number,
  ) {
    this.secrets = [first]
  }

  get now(): number {
    return this.nowMs
  }

  advance(ms: number): void {
    this.nowMs += ms
  }

  get current(): Secret {
    return this.secrets.at(-1)!
  }

  /** The old secret of an overlap, which backends that were not redeployed hold. */
  get outgoing(): Secret | undefined {
    return this.secrets.find(({ id }) => (this.ends.get(id) ?? 0) > this.nowMs)
  }

  /** Both of an overlap, or the only one; the older first. */
  get active(): Secret[] {
    return this.outgoing ? [this.outgoing, this.current] : [this.current]
  }

  /** The result of a rotation that is executed now. */
  outcome(force: boolean): RotationOutcome {
    if (this.outgoing && !force) {
      const remainingMs = this.ends.get(this.outgoing.id)! - this.nowMs
      return { kind: 'in_progress', retryAfterSeconds: Math.ceil(remainingMs / 1000) }
    }
    return { kind: 'rotated', previous: { id: this.current.id, validUntilMs: this.nowMs + OVERLAP_MS } }
  }

  rotated(made: Secret): void {
    if (this.outgoing) this.ends.set(this.outgoing.id, this.nowMs)
    this.ends.set(this.current.id, this.nowMs + OVERLAP_MS)
    this.secrets.push(made)
  }
}
