/**
 * Bounds the memory of request bodies whose requests have no answer yet: a total, a quota for each group of listeners, and a bound for
 * each tenant. Four rules, each against an attack that test/http/bodies/bodies.test.ts tries over both transports:
 *
 * 1. All bodies together hold at most the total, and those of sandbox and dashboard at most half of it: production keeps the rest.
 * 2. A tenant with several bodies holds at most as much as stays free: half of the quota for one such tenant, a third each for two.
 *    A tenant that sends many bodies leaves room for those of others. A single body is bounded by the quota only.
 * 3. Where there is no room, bodies that have been arriving for over a second are evicted. Tenants that trickle their bodies cannot
 *    fill the quota together. The sandbox's are evicted first, then those of the tenant that holds most.
 * 4. A tenant with several bodies evicts only bodies of tenants that hold more than it does, so that slow but honest senders do not
 *    lose their bodies to it. No body is evicted where even that would not make enough room.
 *
 * Rule 2 is that of A. K. Choudhury and E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet switches", 1998.
 */

/** Time for which a body may arrive before it can be evicted. */
const EVICTABLE_AFTER_MS = 1000

export class BodyBudget {
  private readonly quotas: BodyQuota[] = []
  /** Memory of the bodies whose requests have no answer yet. */
  heldBytes = 0
  /** The highest `heldBytes` so far. */
  peakBytes = 0

  /** @param limitBytes the total */
  constructor(private readonly limitBytes: number) {}

  get freeBytes(): number {
    return this.limitBytes - this.heldBytes
  }

  /** @param part of the total that the quota may hold at most, 0 to 1; quotas may overlap */
  quota(part: number): BodyQuota {
    const quota = new BodyQuota(this, this.limitBytes * part)
    this.quotas.push(quota)
    return quota
  }

  /** The quotas whose slow bodies are evicted for a body of this one: itself and smaller ones. */
  evictableFor(quota: BodyQuota): BodyQuota[] {
    return this.quotas.filter((other) => other === quota || other.limitBytes < quota.limitBytes)
  }

  /** Counts memory that was taken, or given back where it is negative. */
  count(bytes: number): void {
    this.heldBytes += bytes
    this.peakBytes = Math.max(this.peakBytes, this.heldBytes)
  }
}

/** The tenant that sends a body. */
interface BodyOwner {
  bytes: number
  bodies: number
}

/** A part of the total, for one group of listeners. */
export class BodyQuota {
  private held = 0
  private readonly owners = new Map<string, BodyOwner>()
  /** Bodies that a handler waits for, in the order in which the waiting began. */
  private readonly arriving = new Set<BodyMemory>()

  constructor(
    private readonly budget: BodyBudget,
    readonly limitBytes: number,
  ) {}

  get freeBytes(): number {
    return Math.min(this.limitBytes - this.held, this.budget.freeBytes)
  }

  /** The memory of one body, none so far. */
  open(): BodyMemory {
    return new BodyMemory(this, this.owners, this.arriving)
  }

  /** Counts memory that was taken, or given back where it is negative. */
  count(bytes: number): void {
    this.held += bytes
    this.budget.count(bytes)
  }

  /** Evicts slow bodies until the body has room for these bytes, or none of them where it would not have room even so. */
  makeRoom(bytes: number, body: BodyMemory): void {
    const wanted = bytes + body.reserveFor(bytes)
    if (this.freeBytes >= wanted) return
    const begunBefore = performance.now() - EVICTABLE_AFTER_MS
    const slow = this.budget
      .evictableFor(this)
      .flatMap((quota) => quota.arrivingSince(begunBefore))
      .filter((other) => body.mayEvict(other))
    const evictable = slow.reduce((sum, { bytes }) => sum + bytes, 0)
    if (this.freeBytes + evictable < wanted) return
    while (this.freeBytes < wanted && slow.length > 0) {
      // Each eviction changes which owner holds most.
      const first = slow.reduce((a, b) => (b.isEvictedBefore(a) ? b : a))
      slow.splice(slow.indexOf(first), 1)
      first.evict()
    }
  }

  private arrivingSince(timeMs: number): BodyMemory[] {
    const bodies: BodyMemory[] = []
    for (const body of this.arriving) {
      if (body.arrivingSinceMs > timeMs) break
      bodies.push(body)
    }
    return bodies
  }
}

/** The memory that one body holds. */
export class BodyMemory {
  bytes = 0
  /** When a handler began to wait for the body, on the clock of `performance.now()`. */
  arrivingSinceMs = 0
  /** Releases the body while a handler waits for it. */
  evict: () => void = () => {}
  /** Null until the caller is known: what comes before is bounded by the quota only. */
  private owner: BodyOwner | null = null
  private ownerName: string | undefined

  constructor(
    private readonly quota: BodyQuota,
    private readonly owners: Map<string, BodyOwner>,
    private readonly arriving: Set<BodyMemory>,
  ) {}

  get hasOwner(): boolean {
    return this.owner !== null
  }

  /**
   * From now on the body counts towards this owner, or towards an owner of its own where no name is given.
   * @returns false where the owner of several bodies already holds too much: the body is to be released
   */
  assign(name?: string): boolean {
    const known = name === undefined ? undefined : this.owners.get(name)
    const owner = known ?? { bytes: 0, bodies: 0 }
    if (name !== undefined) this.owners.set(name, owner)
    this.owner = owner
    this.ownerName = name
    owner.bodies++
    const reserve = this.reserveFor(this.bytes)
    owner.bytes += this.bytes
    return reserve <= this.quota.freeBytes
  }

  /** Takes memory, evicting slow bodies where that helps. @returns false, with nothing taken, where there is no room */
  take(bytes: number): boolean {
    this.quota.makeRoom(bytes, this)
    if (bytes + this.reserveFor(bytes) > this.quota.freeBytes) return false
    this.bytes += bytes
    if (this.owner) this.owner.bytes += bytes
    this.quota.count(bytes)
    return true
  }

  /** A handler waits for the body, which may be evicted until it has arrived. @param onEvicted releases it */
  await(onEvicted: () => void): void {
    this.arrivingSinceMs = performance.now()
    this.evict = onEvicted
    this.arriving.add(this)
  }

  arrived(): void {
    this.arriving.delete(this)
  }

  /** Gives the memory back. */
  release(): void {
    this.arrived()
    this.quota.count(-this.bytes)
    const { owner, ownerName } = this
    if (owner) {
      owner.bytes -= this.bytes
      if (--owner.bodies === 0 && ownerName !== undefined) this.owners.delete(ownerName)
    }
    this.owner = null
    this.bytes = 0
  }

  /** Memory that must stay free when these bytes have been taken: rule 2. */
  reserveFor(bytes: number): number {
    return this.owner && this.owner.bodies > 1 ? this.owner.bytes + bytes : 0
  }

  /** Rule 4. */
  mayEvict(other: BodyMemory): boolean {
    if (other === this) return false
    const { owner } = this
    return !owner || owner.bodies === 1 || other.ownedBytes > owner.bytes
  }

  /** Rule 3: the body of the smaller quota comes first, then the body of the owner that holds more. */
  isEvictedBefore(other: BodyMemory): boolean {
    return (other.quota.limitBytes - this.quota.limitBytes || this.ownedBytes - other.ownedBytes) > 0
  }

  private get ownedBytes(): number {
    return this.owner?.bytes ?? 0
  }
}
