/** Runs a network over the views of faces: in one batch where it takes any, and a part of them by idle neighbours. */

import type { PackManifest } from '../../../models/pack/pack-schema.js'
import type { Network } from './network.js'

/** The networks that neighbours run for each other. */
export const LENT_NETWORKS = ['landmarks', 'embedder'] as const
export type LentNetwork = (typeof LENT_NETWORKS)[number]

/** What was asked of a neighbour. */
export interface Help {
  /**
   * Null where the neighbour has not begun, or was lost: then it is left to do here. To be called whatever happens: until
   * then that neighbour helps nobody.
   */
  result(): Promise<Float32Array | null>
}

/** Views that a neighbour has, and what was asked of it. */
export interface Lent {
  count: number
  help: Help
}

/** The other workers of the process. */
export interface Neighbours {
  /**
   * Has one that has nothing to do run the network.
   * @param views [count, 3, height, width]; copied
   * @returns null where all are busy
   */
  ask(network: LentNetwork, views: Float32Array): Help | null
}

/** Numbers that go to a neighbour, and come back, at most. */
export interface LentRoom {
  input: number
  output: number
}

/** x and y of 68 points. */
export const COORDINATES = 136
/** Where the gain of a larger batch has become small, and the memory for it not yet large. */
export const MAX_FACES = 4

/** For half of the largest batch of either network. */
export function lentRoom({ landmarks, embedder }: PackManifest): LentRoom {
  const faces = Math.ceil(((embedder.flipAverage ? 2 : 1) * MAX_FACES) / 2)
  return {
    input: Math.max(faces * lengthOf(embedder.input), landmarks ? lengthOf(landmarks.input) : 0),
    output: Math.max(faces * embedder.dimensions, COORDINATES),
  }
}

export class ViewRunner {
  /** Who may be asked for help. */
  neighbours: Neighbours | null = null
  private readonly viewLength: number

  /** @param outputLength numbers that the network says of one view */
  constructor(
    private readonly network: Network,
    private readonly name: LentNetwork,
    private readonly input: { width: number; height: number },
    private readonly outputLength: number,
  ) {
    this.viewLength = lengthOf(input)
  }

  /** Has an idle neighbour begin with views that `run` will be given. @returns null where all are busy */
  lend(views: Float32Array): Lent | null {
    const help = this.neighbours?.ask(this.name, views)
    return help ? { count: views.length / this.viewLength, help } : null
  }

  /**
   * @param views [count, 3, height, width]; may be reused once the promise is settled
   * @param begun the first of them, which were lent already; without any, half are lent now
   * @returns [count × outputLength]
   */
  async run(views: Float32Array, begun: readonly Lent[] = []): Promise<Float32Array> {
    const count = views.length / this.viewLength
    const lent = begun.length > 0 ? begun : this.lendHalf(views, count)
    if (lent.length === 0) return this.runAlone(views)
    const lentCount = lent.reduce((sum, part) => sum + part.count, 0)
    const own = this.runAlone(views.subarray(lentCount * this.viewLength))
    await own.catch(() => {})
    const theirs: Array<Float32Array | null> = []
    for (const { help } of lent) theirs.push(await help.result())
    const all = new Float32Array(count * this.outputLength)
    let done = 0
    for (const [index, part] of lent.entries()) {
      const from = done * this.viewLength
      const output =
        theirs[index] ?? (await this.runAlone(views.subarray(from, from + part.count * this.viewLength)))
      all.set(output, done * this.outputLength)
      done += part.count
    }
    all.set(await own, done * this.outputLength)
    return all
  }

  private lendHalf(views: Float32Array, count: number): Lent[] {
    const lent = count > 1 ? this.lend(views.subarray(0, (count >> 1) * this.viewLength)) : null
    return lent ? [lent] : []
  }

  /** On this thread alone. A batch is a tenth faster than one view after the other. */
  async runAlone(views: Float32Array): Promise<Float32Array> {
    const count = views.length / this.viewLength
    if (count > 0 && this.network.inputShape[0] === null) return this.runBatch(views, count)
    const all = new Float32Array(count * this.outputLength)
    for (let view = 0; view < count; view++) {
      const one = views.subarray(view * this.viewLength, (view + 1) * this.viewLength)
      all.set(await this.runBatch(one, 1), view * this.outputLength)
    }
    return all
  }

  private async runBatch(views: Float32Array, count: number): Promise<Float32Array> {
    const { width, height } = this.input
    const { data } = await this.network.runSingle(views, [count, 3, height, width])
    if (data.length !== count * this.outputLength)
      throw new Error(
        `the ${this.name} network returned ${data.length / count} numbers, the pack says ${this.outputLength}`,
      )
    return data
  }
}

function lengthOf({ width, height }: { width: number; height: number }): number {
  return 3 * width * height
}
