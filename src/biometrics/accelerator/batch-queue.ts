/** Decides which runs that wait for the accelerator are done next, as one batch. */

/** The properties of a waiting run by which the queue decides. */
export interface WaitingRun {
  /** Identifies the network. */
  sha256: string
  /** Shape of the input: number of rows, then the shape of each row. */
  dims: readonly number[]
}

/**
 * Maximum rows of a batch: 32 faces of 112 × 112 pixels are 5 MB of input, and an R50 needs some 400 MB for the values
 * between its layers.
 */
export const MAX_ROWS = 32

/**
 * Runs in the order of their arrival. There is no timer: a batch is what has arrived while the one before ran. The
 * oldest run is always in the next batch, so no network and no worker waits behind later ones.
 */
export class BatchQueue<Run extends WaitingRun> {
  private waiting: Run[] = []

  /** @param isBatchable whether a run of the network may have any number of rows */
  constructor(private readonly isBatchable: (sha256: string) => boolean) {}

  get size(): number {
    return this.waiting.length
  }

  push(run: Run): void {
    this.waiting.push(run)
  }

  /**
   * Takes the oldest run, and with it the oldest others of the same network and row shape. Where a batch has several
   * runs its rows are a power of two: accelerators prepare themselves for each shape that they have not seen, and so
   * see six of them.
   * @returns in order of arrival; empty if nothing waits
   */
  take(): Run[] {
    const [first] = this.waiting
    if (!first) return []
    const batch = this.isBatchable(first.sha256) ? this.largestBatch(first) : [first]
    const taken = new Set(batch)
    this.waiting = this.waiting.filter((run) => !taken.has(run))
    return batch
  }

  private largestBatch(first: Run): Run[] {
    const matching = this.waiting.filter((run) => fits(run, first))
    let [rows, length] = [0, 1]
    for (const [i, run] of matching.entries()) {
      rows += rowsOf(run)
      if (rows > MAX_ROWS) break
      if (isPowerOfTwo(rows)) length = i + 1
    }
    return matching.slice(0, length)
  }
}

export function rowsOf({ dims }: WaitingRun): number {
  return dims[0]!
}

function fits(run: WaitingRun, first: WaitingRun): boolean {
  return (
    run.sha256 === first.sha256 &&
    run.dims.length === first.dims.length &&
    run.dims.every((side, i) => i === 0 || side === first.dims[i])
  )
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value))
}
