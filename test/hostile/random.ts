/** A seeded generator (mulberry32): the same seed gives the same campaign. */
export class Random {
  constructor(private state: number) {}

  /** 0 ≤ n < 1 */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0
    let t = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }

  /** An integer, 0 ≤ n < limit. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!
  }
}

/** The bytes, damaged: some bits flipped, cut short, a stretch doubled, removed or overwritten. */
export function damage(bytes: Buffer, random: Random): Buffer {
  const at = random.below(bytes.length)
  const end = Math.min(bytes.length, at + 1 + random.below(64))
  switch (random.below(6)) {
    case 0:
      return bytes.subarray(0, at)
    case 1:
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)])
    case 3:
      return Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(Array.from({ length: end - at }, () => random.below(256))),
        bytes.subarray(end),
      ])
    default: {
      const damaged = Buffer.from(bytes)
      for (let flips = 1 + random.below(8); flips > 0; flips--) {
        // Half of them near the start, where the headers are.
        const where = random.below(random.next() < 0.5 ? Math.min(512, bytes.length) : bytes.length)
        damaged[where]! ^= 1 << random.below(8)
      }
      return damaged
    }
  }
}
