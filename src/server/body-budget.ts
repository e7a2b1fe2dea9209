/** What all bodies under way may hold of memory together, and how much of it each listener and each tenant. */

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

  get freeBytes(): number {
    return this.limitBytes - this.held
  }

  /** False, and nothing is taken, where it would be too much. */
  take(bytes: number): boolean {
    if (bytes > this.freeBytes) return false
    this.held += bytes
    this.most = Math.max(this.most, this.held)
    return true
  }

  give(bytes: number): void {
    this.held -= bytes
  }
}

/** Of one who sends bodies. */
interface Holder {
  bytes: number
  bodies: number
}

export class BodyShare {
  private held = 0
  private readonly holders = new Map<string, Holder>()

  constructor(
    private readonly budget: BodyBudget,
    private readonly limitBytes: number,
  ) {}

  get freeBytes(): number {
    return Math.min(this.limitBytes - this.held, this.budget.freeBytes)
  }

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

  /** From now on the body is this holder's. */
  claim(name: string): BodyClaim {
    let holder = this.holders.get(name)
    if (!holder) {
      holder = { bytes: 0, bodies: 0 }
      this.holders.set(name, holder)
    }
    holder.bodies++
    return new BodyClaim(this, holder, () => {
      if (--holder.bodies === 0) this.holders.delete(name)
    })
  }
}

/**
 * One body's part of what its holder has. A holder of several may have as much as is left free beside: alone half of the share,
 * of two each a third, so that whoever comes next finds room. (A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds
 * for shared-memory packet switches", 1998.)
 */
export class BodyClaim {
  private bytes = 0

  constructor(
    private readonly share: Pick<BodyShare, 'freeBytes'>,
    private readonly holder: Holder,
    private readonly onEnd: () => void,
  ) {}

  /** What the share has already given. False, and nothing is counted, where it is too much for this holder. */
  add(bytes: number): boolean {
    if (this.holder.bodies > 1 && this.holder.bytes + bytes > this.share.freeBytes) return false
    this.holder.bytes += bytes
    this.bytes += bytes
    return true
  }

  /** Once. */
  end(): void {
    this.holder.bytes -= this.bytes
    this.onEnd()
  }
}
