/** The frames of one request, which are judged together: they are measured, and then some of their faces are embedded. */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import { IMAGE_ERROR_CODES } from '../biometric-error.js'
import type { WorkerValues } from '../channel/worker-messages.js'
import type { FaceSample } from '../measurements.js'
import type { CallOptions, StageTimings } from '../types.js'
import { addTimings, type Dispatcher } from './dispatcher.js'
import { garbled } from './samples.js'

/** A face of a frame that was measured and embedded. */
export type FrameSample = Pick<FaceSample, 'imageIndex' | 'embedding' | 'others' | 'quality' | 'faces'>

/** The packs that decide and follow, as tasks name them. */
export interface TaskPacks {
  decideBy: string
  alsoEmbed?: readonly string[]
}

export class FrameSeries {
  /** The time of each stage, over all tasks so far. */
  readonly timingsMs: StageTimings = {}
  private measured: ReadonlyArray<WorkerValues['look']> = []

  constructor(
    /** The pack that decides. */
    readonly pack: ModelPack,
    private readonly images: readonly Uint8Array[],
    private readonly packs: TaskPacks,
    private readonly dispatcher: Dispatcher,
    private readonly call: CallOptions,
  ) {}

  /**
   * Measures each frame in a task of its own. Only the measurements of a frame are kept, and none of its pixels.
   * @param checked indices of the frames that the liveness network judges
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded, cancelled or
   * engine_unavailable
   */
  async measure(checked: ReadonlySet<number>): Promise<ReadonlyArray<WorkerValues['look']>> {
    const tasks = this.images.map((_, imageIndex) => ({
      type: 'look' as const,
      checkLiveness: checked.has(imageIndex),
      ...this.frame(imageIndex),
    }))
    this.measured = this.noted(await this.dispatcher.perform(tasks, this.call))
    if (this.measured.some(({ look }, i) => look.imageIndex !== i)) throw garbled()
    return this.measured
  }

  /**
   * Embeds the faces of frames that were measured. A full queue refuses none of them.
   * @param followed indices of the frames that the packs which follow embed as well
   * @throws BiometricError face_not_upright, and as `measure`
   */
  async embed(indices: readonly number[], followed: ReadonlySet<number>): Promise<FrameSample[]> {
    const { alsoEmbed } = this.packs
    const faces = indices.map((imageIndex) => {
      const { look, alignment } = this.measured[imageIndex]!
      if (!alignment || 'code' in look) throw garbled()
      return { look, alignment }
    })
    const tasks = faces.map(({ look: { imageIndex, box }, alignment }) => ({
      type: 'embed' as const,
      alignment,
      ...this.frame(imageIndex),
      ...(alsoEmbed && followed.has(imageIndex) ? { alsoEmbed, box } : {}),
    }))
    const embedded = this.noted(await this.dispatcher.performMore(tasks, this.call))
    return embedded.map((embeddings, i) => {
      const { imageIndex, quality, faces: found } = faces[i]!.look
      return { imageIndex, ...embeddings, quality, faces: found }
    })
  }

  /** Looks at a frame as at a photo, and refuses only one that is not upright. @throws BiometricError face_not_upright */
  async assertUpright(imageIndex: number): Promise<void> {
    const { images, decideBy } = this.frame(imageIndex)
    const task = { type: 'verify' as const, images, decideBy }
    await this.dispatcher.performMore([task], this.call).catch((error) => {
      if (error.code === 'face_not_upright' || !IMAGE_ERROR_CODES.includes(error.code)) throw error
    })
  }

  private frame(imageIndex: number) {
    const images: readonly [Uint8Array] = [this.images[imageIndex]!]
    return { images, imageIndex, decideBy: this.packs.decideBy }
  }

  private noted<Values>({ values, timingsMs }: { values: Values; timingsMs: StageTimings }): Values {
    addTimings(this.timingsMs, timingsMs)
    return values
  }
}
