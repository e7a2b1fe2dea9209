/** What all bodies under way may hold of memory together, and how much of it each listener and each tenant. */

/** How long a body may come before it can be told to give way to another. */
const UNDISTURBED_MS = 1000

export class BodyBudget {
  private readonly shares: BodyShare[] = []
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
    const share = new BodyShare(this, this.limitBytes * part)
    this.shares.push(share)
    return share
  }

  /** The share itself and those that may take less: what comes through them goes first. */
  upTo(share: BodyShare): BodyShare[] {
    return this.shares.filter((other) => other === share || other.limitBytes < share.limitBytes)
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
  /** Bodies that are waited for, the longest first: a Set keeps the order of entry. */
  private readonly coming = new Set<BodyClaim>()

  constructor(
    private readonly budget: BodyBudget,
    readonly limitBytes: number,
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

  /** From now on the body is this holder's; of a holder of its own where nobody is named. */
  claim(name?: string): BodyClaim {
    const holder = (name !== undefined && this.holders.get(name)) || { bytes: 0, bodies: 0 }
    if (name !== undefined) this.holders.set(name, holder)
    holder.bodies++
    return new BodyClaim(this, holder, this.coming, () => {
      if (--holder.bodies === 0 && name !== undefined) this.holders.delete(name)
    })
  }

  /**
   * Where there is no room for these bytes, bodies that others send slowly give way: those of whoever holds most first. Whoever
   * sends several has only such moved that hold more than they do, so that many who are slow do not push out each other.
   * Nobody is moved in vain.
   * @param claim of the body that needs room; null before it is known whose it is
   */
  makeRoom(bytes: number, claim: BodyClaim | null): void {
    const wanted = bytes + (claim?.requiredBeside(bytes) ?? 0)
    if (this.freeBytes >= wanted) return
    const settledBefore = performance.now() - UNDISTURBED_MS
    const slow = this.budget
      .upTo(this)
      .flatMap((share) => share.comingSince(settledBefore))
      .filter((other) => other !== claim && (!claim || claim.mayMove(other)))
    const movable = slow.reduce((sum, other) => sum + other.bytes, 0)
    if (this.freeBytes + movable < wanted) return
    while (this.freeBytes < wanted && slow.length > 0) {
      const first = slow.reduce((a, b) => (b.goesBefore(a) ? b : a))
      slow.splice(slow.indexOf(first), 1)
      first.giveWay()
    }
  }

  private comingSince(timeMs: number): BodyClaim[] {
    const since: BodyClaim[] = []
    for (const claim of this.coming) {
      if (claim.sinceMs > timeMs) break
      since.push(claim)
    }
    return since
  }
}

/**
 * One body's part of what its holder has. A holder of several may have as much as is left free beside: alone half of the share,
 * of two each a third, so that whoever comes next finds room. (A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds
 * for shared-memory packet switches", 1998.)
 */
export class BodyClaim {
  private held = 0
  private since = 0
  private onGiveWay: () => void = () => {}

  constructor(
    private readonly share: Pick<BodyShare, 'freeBytes' | 'limitBytes'>,
    private readonly holder: Holder,
    private readonly coming: Set<BodyClaim>,
    private readonly onEnd: () => void,
  ) {}

  get bytes(): number {
    return this.held
  }

  /** When somebody began to wait for the body. */
  get sinceMs(): number {
    return this.since
  }

  /** Until it has arrived, or its claim ends, the body may be told to give way. */
  await(onGiveWay: () => void): void {
    this.since = performance.now()
    this.onGiveWay = onGiveWay
    this.coming.add(this)
  }

  arrived(): void {
    this.coming.delete(this)
  }

  giveWay(): void {
    this.onGiveWay()
  }

  /** What must be left free when these bytes have been taken. */
  requiredBeside(bytes: number): number {
    return this.holder.bodies > 1 ? this.holder.bytes + bytes : 0
  }

  mayMove({ holder }: BodyClaim): boolean {
    return this.holder.bodies === 1 || holder.bytes > this.holder.bytes
  }

  /** Of the lesser share; then, of whoever holds more. */
  goesBefore({ share, holder }: BodyClaim): boolean {
    return (share.limitBytes - this.share.limitBytes || this.holder.bytes - holder.bytes) > 0
  }

  /** What the share has already given. False, and nothing is counted, where it is too much for this holder. */
  add(bytes: number): boolean {
    if (this.requiredBeside(bytes) > this.share.freeBytes) return false
    this.holder.bytes += bytes
    this.held += bytes
    return true
  }

  /** Once. */
  end(): void {
    this.arrived()
    this.holder.bytes -= this.held
    this.onEnd()
  }
}
