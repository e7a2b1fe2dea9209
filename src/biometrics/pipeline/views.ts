/** Runs a network over the views of faces: in one batch where it takes any, and half of them by an idle neighbour. */

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
export const MOST_FACES = 4

/** For half of the largest batch of either network. */
export function lentRoom({ landmarks, embedder }: PackManifest): LentRoom {
  const faces = Math.ceil(((embedder.flipAverage ? 2 : 1) * MOST_FACES) / 2)
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

  /**
   * @param views [count, 3, height, width]; may be reused once the promise is settled
   * @returns [count × outputLength]
   */
  async run(views: Float32Array): Promise<Float32Array> {
    const count = views.length / this.viewLength
    const kept = Math.ceil(count / 2)
    const lent = views.subarray(kept * this.viewLength)
    const help = count > 1 ? this.neighbours?.ask(this.name, lent) : null
    if (!help) return this.runAlone(views)
    const own = this.runAlone(views.subarray(0, kept * this.viewLength))
    const theirs = await own.catch(() => {}).then(() => help.result())
    const all = new Float32Array(count * this.outputLength)
    all.set(await own)
    all.set(theirs ?? (await this.runAlone(lent)), kept * this.outputLength)
    return all
  }

  /** The same, on this thread alone. A batch is a tenth faster than one view after the other. */
  async runAlone(views: Float32Array): Promise<Float32Array> {
    const count = views.length / this.viewLength
    if (this.network.inputShape[0] === null) return this.runBatch(views, count)
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
