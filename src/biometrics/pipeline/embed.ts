/** The embedding stage: aligned chips become vectors that can be compared. */

import type { EmbedderSpec } from '../../../models/pack/pack-schema.js'
import { kernels } from '../kernels/kernels.js'
import { normalizeLength } from '../kernels/vector-math.js'
import type { Network } from './network.js'
import { StageClock } from './stage-clock.js'
import { type Lent, MAX_FACES, ViewRunner } from './views.js'

/** A face whose chip waits for the next run. */
interface Waiting {
  clock: StageClock
  /** Its first views, where neighbours have begun with them. */
  lent: readonly Lent[]
  since: number
  resolve: (embedding: Float32Array) => void
  reject: (error: unknown) => void
}

/**
 * Embeds faces in batches: what `add` gathers, the next `run` embeds in one go. The baseline's embedder takes a sixth less
 * for each of four faces than for one alone.
 */
export class FaceEmbedder {
  readonly views: ViewRunner
  private readonly spec: EmbedderSpec
  private readonly chipLength: number
  /** 2 where the pack averages the face with its mirror image. */
  private readonly viewsPerFace: number
  /** [faces × views, 3, height, width]: what waits for the next run. */
  private chips: Float32Array
  private waiting: Waiting[] = []
  private readonly mirrored: Float32Array
  /** Memory of past runs. */
  private readonly spare: Float32Array[] = []

  constructor(network: Network, spec: EmbedderSpec) {
    this.views = new ViewRunner(network, 'embedder', spec.input, spec.dimensions)
    this.spec = spec
    this.chipLength = 3 * spec.input.width * spec.input.height
    this.viewsPerFace = spec.flipAverage ? 2 : 1
    this.chips = this.allocate()
    this.mirrored = new Float32Array(this.chipLength)
  }

  /** Another face must wait for a run first. */
  get isFull(): boolean {
    return this.waiting.length === MAX_FACES
  }

  /**
   * Has idle neighbours begin with the views of a face that will probably be added: that saves a lone caller what comes between.
   * What is not added is to be given to `giveUp`.
   */
  lend(chip: Float32Array): Lent[] {
    // A single view is computed here as fast.
    const straight = this.viewsPerFace === 2 ? this.views.lend(chip) : null
    if (!straight) return []
    kernels.mirrorPlanar(chip, this.mirrored, this.spec.input.width)
    const mirrored = this.views.lend(this.mirrored)
    return mirrored ? [straight, mirrored] : [straight]
  }

  /** Nobody wants the views any more. */
  giveUp(lent: readonly Lent[]): void {
    for (const { help } of lent) void help.result()
  }

  /**
   * Adds a face to the next run.
   * @param chip [3, height, width] float32 as `FaceAligner` makes it; copied
   * @param lent as `lend` said of this chip
   * @param clock is told how long the face waited (`queue`) and, once for all faces of one clock, how long their run took (`embed`)
   * @returns after that run: [dimensions] float32, of length 1 when the pack says `normalize`; a new array
   */
  add(chip: Float32Array, clock: StageClock, lent: readonly Lent[] = []): Promise<Float32Array> {
    const start = this.waiting.length * this.viewsPerFace * this.chipLength
    this.chips.set(chip, start)
    if (this.spec.flipAverage) {
      const mirrored = this.chips.subarray(start + this.chipLength, start + 2 * this.chipLength)
      kernels.mirrorPlanar(chip, mirrored, this.spec.input.width)
    }
    return new Promise((resolve, reject) => {
      this.waiting.push({ clock, lent, since: performance.now(), resolve, reject })
    })
  }

  /** Embeds every face that waits. Never rejects: a failure is the faces'. */
  async run(): Promise<void> {
    if (this.waiting.length === 0) return
    const [faces, chips] = [this.waiting, this.chips]
    this.waiting = []
    this.chips = this.spare.pop() ?? this.allocate()
    const startedAt = performance.now()
    try {
      const views = await this.runViews(
        chips.subarray(0, faces.length * this.viewsPerFace * this.chipLength),
        faces,
      )
      const tookMs = performance.now() - startedAt
      for (const clock of new Set(faces.map((face) => face.clock))) clock.add('embed', tookMs)
      for (const [index, { clock, since, resolve, reject }] of faces.entries()) {
        clock.add('queue', startedAt - since)
        const embedding = this.embeddingOf(views, index)
        if (embedding.every(Number.isFinite)) resolve(embedding)
        else reject(new Error('the embedder returned a number that is not finite'))
      }
    } catch (error) {
      for (const { reject } of faces) reject(error)
    } finally {
      this.spare.push(chips)
    }
  }

  /** One face in a run of its own. */
  async embed(chip: Float32Array): Promise<Float32Array> {
    const embedding = this.add(chip, new StageClock())
    await this.run()
    return embedding
  }

  private runViews(views: Float32Array, faces: readonly Waiting[]): Promise<Float32Array> {
    const [face] = faces
    if (face && faces.length === 1) return this.views.run(views, face.lent)
    // In company one batch is less work for all.
    for (const { lent } of faces) this.giveUp(lent)
    return this.views.run(views)
  }

  private embeddingOf(views: Float32Array, face: number): Float32Array {
    const { dimensions, normalize } = this.spec
    const start = face * this.viewsPerFace * dimensions
    const embedding = views.slice(start, start + dimensions)
    if (this.viewsPerFace === 2)
      for (let i = 0; i < dimensions; i++) embedding[i] = (embedding[i]! + views[start + dimensions + i]!) / 2
    if (normalize) normalizeLength(embedding)
    return embedding
  }

  private allocate(): Float32Array {
    return new Float32Array(MAX_FACES * this.viewsPerFace * this.chipLength)
  }
}
