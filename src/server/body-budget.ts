/** What all bodies under way may hold of memory together, and how much of it each listener. */

export class BodyBudget {
  private held = 0
  private most = 0

  constructor(private readonly limitBytes: number) {}

  /** Bytes of bodies whose requests have no answer yet. */
  get heldBytes(): number {
    return this.held
  }

  /** The most there ever were. */
  get peakBytes(): number {
    return this.most
  }

  /** @param part of the whole, 0 to 1, that its holder may take at most */
  share(part: number): BodyShare {
    return new BodyShare(this, this.limitBytes * part)
  }

  /** False, and nothing is taken, where it would be too much. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.limitBytes) return false
    this.held += bytes
    this.most = Math.max(this.most, this.held)
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}

export class BodyShare {
  private held = 0

  constructor(
    private readonly budget: BodyBudget,
    private readonly limitBytes: number,
  ) {}

  /** False, and nothing is taken, where it would be too much. */
  take(bytes: number): boolean {
    if (this.held + bytes > this.limitBytes || !this.budget.take(bytes)) return false
    this.held += bytes
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
    this.budget.give(bytes)
  }
}
