/**
 * Takes one image through the engine: decode, detect, choose, align, judge, check liveness, embed. One pack decides about
 * the image; other packs may follow, which add embeddings of the same face and refuse nothing.
 */
import type { Calibration } from '../../../models/pack/calibration.js'
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { Alignment, Box, FrameFace } from '../measurements.js'
import {
  BiometricError,
  type FaceSample,
  type ImageLimits,
  type Liveness,
  type OtherBounds,
} from '../types.js'
import { decodeImage } from './decode/decode.js'
import { FaceModel, type FindOptions, type MeasuredFace } from './face-model.js'
import { type ComingEmbeddings, embedByFollowers, type Following } from './following-packs.js'
import { LIVENESS_UNCHECKED } from './judge/liveness-room.js'
import { withBounds } from './judge/quality-bounds.js'
import { assertLive, assertQuality, isClear } from './judge/refusals.js'
import { Scene } from './judge/scene.js'
import {
  assertComputesAsMeasured,
  type CheckPicture,
  checkVectorOf,
  grayPicture,
  readCheckPicture,
} from './networks/check-vector.js'
import { scaledBox } from './networks/detection.js'
import { Mutex } from './networks/mutex.js'
import { loadNetwork, type NetworkOpener } from './networks/network.js'
import { StageClock } from './stage-clock.js'
import { StageShelf } from './stage-shelf.js'

export interface PipelineOptions {
  /** The execution provider that runs every network. */
  provider: string
  /** Opens each network. Default: loads it into a session of this thread, on `provider`. */
  open?: NetworkOpener
  /** Limits of an image and its face. */
  limits: ImageLimits
  /** Packs that may follow or decide besides the primary one. Default: none. */
  otherPacks?: readonly ModelPack[]
}

/** Options for one image. */
export interface AnalyseOptions {
  /** Index among the caller's images, for samples and refusals. Default 0. */
  imageIndex?: number
  /** Refuses a face that fails the liveness check (enrollment) instead of reporting it. Default false. */
  strictLiveness?: boolean
  /** Receives the duration of each stage. Default: a clock that is dropped. */
  clock?: StageClock
  /** Model id of the pack that decides. Default: the primary pack. */
  decideBy?: string | undefined
  /** Packs that follow. Default: none. */
  following?: Following | undefined
  /** Bounds that hold instead of the configured ones. Default: none. */
  bounds?: OtherBounds | undefined
}

/** Options for one frame of a series. */
interface LookOptions {
  /** Index among the frames. */
  imageIndex: number
  checkLiveness: boolean
  /** Looks once more where no face is found, and embeds a face to refuse one that is not upright. Default false. */
  isUncertain?: boolean
  clock: StageClock
  /** Limits of the frame. Default: those of every image. */
  limits?: ImageLimits
  /** Model id of the pack that decides. Default: the primary pack. */
  decideBy?: string | undefined
}

interface EmbedOptions extends Omit<LookOptions, 'checkLiveness' | 'isUncertain'> {
  /** Packs that follow, and the box of the face in pixels of the source. Default: none. */
  following?: (Following & { box: Box }) | undefined
}

/** Measurements of one frame of a series. */
interface FrameLook {
  face: FrameFace
  /** Transform that cuts the embedder's chip out of the frame. */
  alignment: Alignment
  liveness: Liveness
}

type Embeddings = Pick<FaceSample, 'embedding' | 'others'>

/**
 * Owns the loaded networks and their buffers: one per worker. Several images are decoded at once, on libuv's threads;
 * after that one image at a time has the networks, except that waiting faces are embedded together.
 */
export class FacePipeline {
  private readonly models = new Map<string, FaceModel>()
  private readonly mutex = new Mutex()
  /** Number of decoded pictures that hold or wait for the networks and will add a face to the embedder. */
  private facesComing = 0

  private constructor(
    readonly pack: ModelPack,
    readonly limits: ImageLimits,
    private readonly shelf: StageShelf,
  ) {}

  /**
   * Loads every network of the packs on one execution provider, checking each file's hash as it is read, and runs each
   * once. Blocks the calling thread for most of the time.
   * @throws ModelPackError pack_file_missing, pack_file_mismatch, pack_computes_otherwise; ONNX Runtime's error when the provider cannot serve
   */
  static async load(pack: ModelPack, options: PipelineOptions): Promise<FacePipeline> {
    const { provider, open = (from, file) => loadNetwork(from, file, provider) } = options
    const packs = [pack, ...(options.otherPacks ?? [])]
    const shelf = new StageShelf(packs, provider, open)
    const pipeline = new FacePipeline(pack, options.limits, shelf)
    try {
      for (const one of packs)
        pipeline.models.set(one.modelId, await FaceModel.load(one, shelf, options.limits.acceptTurned))
      await pipeline.warmUp()
      return pipeline
    } catch (error) {
      await pipeline.release()
      throw error
    }
  }

  /**
   * Runs every stage once, so that the first caller does not pay for first-time work. A pack with a check vector runs on the picture
   * of that vector, any other on a gray one.
   * @throws ModelPackError pack_computes_otherwise
   */
  private async warmUp(): Promise<void> {
    const models = [...this.models.values()]
    const isChecked = ({ pack }: FaceModel) => pack.calibration?.check !== undefined
    const checked = models.filter(isChecked)
    if (checked.length > 0) {
      const picture = await readCheckPicture()
      for (const [model, embedding] of await embedded(checked, picture))
        assertComputesAsMeasured(model.pack, picture, embedding)
    }
    await embedded(
      models.filter((model) => !isChecked(model)),
      grayPicture(),
    )
  }

  /** @returns the check vector of the primary pack; undefined where it finds no face in the picture */
  async measureCheckVector(): Promise<Calibration['check'] | undefined> {
    const picture = await readCheckPicture()
    const [[, embedding] = [null, null]] = await embedded([this.modelOf()], picture)
    return checkVectorOf(picture, embedding)
  }

  /** @throws BiometricError with `imageIndex`, when the image cannot be used by the pack that decides */
  async analyse(bytes: Uint8Array, options: AnalyseOptions = {}): Promise<FaceSample> {
    const { imageIndex = 0, strictLiveness = false, clock = new StageClock(), following, bounds } = options
    const limits = { ...this.limits, ...(bounds?.minFacePx ? { minFacePx: bounds.minFacePx } : {}) }
    const model = this.modelOf(options.decideBy)
    const find = { imageIndex, clock, limits }
    const { face, coming } = await this.inTurn(bytes, find, true, async (scene) => {
      const { face, chip, found } = await model.measure(scene, { ...find, looksAgain: true })
      const liveness = await unlessTurned(model, { face, chip }, async () => {
        assertQuality(face, withBounds(model.pack.manifest.quality, bounds?.quality))
        const liveness = await model.checkLiveness(scene, found.box, clock)
        if (strictLiveness) assertLive(liveness, imageIndex)
        return liveness
      })
      const others = following && (await embedByFollowers(this.models, scene, found.box, find, following))
      return { face: { ...face, liveness }, coming: { embedding: model.embedder.add(chip, clock), others } }
    })
    const embeddings = await settled(coming)
    model.assertUpright(embeddings.embedding, imageIndex)
    return { ...face, ...embeddings }
  }

  /**
   * Measures the face of a frame, refusing nothing for its quality. `embed` needs the result.
   * @throws BiometricError with `imageIndex`, when the frame shows no usable face
   */
  async look(bytes: Uint8Array, options: LookOptions): Promise<FrameLook> {
    const { imageIndex, checkLiveness, isUncertain = false, clock, limits = this.limits } = options
    const model = this.modelOf(options.decideBy)
    const find = { imageIndex, clock, limits }
    return this.inTurn(bytes, find, false, async (scene) => {
      const measured = await model.measure(scene, { ...find, looksAgain: isUncertain })
      const { face, alignment, chip, found } = measured
      if (isUncertain && isClear(face, model.pack.manifest.quality))
        await model.assertUprightChip(chip, imageIndex)
      const liveness = checkLiveness ? await model.checkLiveness(scene, found.box, clock) : LIVENESS_UNCHECKED
      const { width, height } = scene.image
      return { face: { ...face, width, height }, alignment, liveness }
    })
  }

  /**
   * Returns the embedding of a face that `look` found.
   * @param bytes the same frame: it is decoded again, so that nothing of it is kept between the two tasks
   * @param alignment result of `look`
   * @returns [dimensions] float32, the same to the bit as `analyse` would give
   * @throws BiometricError face_not_upright
   */
  async embed(bytes: Uint8Array, alignment: Alignment, options: EmbedOptions): Promise<Embeddings> {
    const { imageIndex, clock, limits = this.limits, following } = options
    const model = this.modelOf(options.decideBy)
    const find = { imageIndex, clock, limits }
    const { coming } = await this.inTurn(bytes, find, true, async (scene) => {
      const box = following && scaledBox(following.box, 1 / scene.image.sourceScale)
      const others = box && (await embedByFollowers(this.models, scene, box, find, following))
      const chip = await model.cut(scene, alignment, clock)
      return { coming: { embedding: model.embedder.add(chip, clock), others } }
    })
    const embeddings = await settled(coming)
    model.assertUpright(embeddings.embedding, imageIndex)
    return embeddings
  }

  /**
   * Decodes a picture, runs `work` while no other picture has the networks, and frees the pixels afterwards.
   * @param bringsFace true if `work` adds a face to the embedders, unless it fails
   */
  private async inTurn<T>(
    bytes: Uint8Array,
    { imageIndex, clock, limits }: FindOptions,
    bringsFace: boolean,
    work: (scene: Scene) => Promise<T>,
  ): Promise<T> {
    const image = await clock.measure('decode', () => decodeImage(bytes, limits, imageIndex, clock.signal))
    if (bringsFace) this.facesComing++
    const scene = new Scene(image)
    let leave = () => {}
    try {
      leave = await clock.measure('queue', () => this.mutex.lock())
      return await work(scene)
    } finally {
      scene.release()
      if (bringsFace) this.facesComing--
      leave()
      // A face whose picture is decoded already joins the run. A frame that is only measured brings no face to wait
      // for.
      for (const { embedder } of this.models.values())
        if (this.facesComing === 0 || embedder.isFull) void embedder.run()
    }
  }

  /** @throws TypeError for a pack that is not loaded */
  private modelOf(modelId = this.pack.modelId): FaceModel {
    const model = this.models.get(modelId)
    if (!model) throw new TypeError(`the pack ${modelId} is not loaded`)
    return model
  }

  /** Frees the native memory. The pipeline cannot be used afterwards. */
  release(): Promise<void> {
    return this.shelf.release()
  }
}

/** Runs every stage of each pack on a picture, and frees its pixels. */
async function embedded(models: readonly FaceModel[], { image }: CheckPicture) {
  const embeddings = new Map<FaceModel, Float32Array | null>()
  const scene = new Scene(image)
  try {
    for (const model of models) embeddings.set(model, await model.warmUp(scene, new StageClock()))
    return embeddings
  } finally {
    scene.release()
  }
}

/**
 * Judges a face, and lets the refusal of a turned picture come before any other: advice about the pose misleads where the picture has to
 * be turned. The face is embedded for that only where it is refused anyway.
 */
async function unlessTurned<T>(
  model: FaceModel,
  { face, chip }: Pick<MeasuredFace, 'face' | 'chip'>,
  judge: () => Promise<T>,
): Promise<T> {
  try {
    return await judge()
  } catch (error) {
    if (
      error instanceof BiometricError &&
      error.code !== 'cancelled' &&
      isClear(face, model.pack.manifest.quality)
    )
      await model.assertUprightChip(chip, face.imageIndex)
    throw error
  }
}

/** Waits for the embeddings of a face. Those of packs that follow never reject. */
async function settled(coming: {
  embedding: Promise<Float32Array>
  others: ComingEmbeddings | undefined
}): Promise<Embeddings> {
  const embedding = await coming.embedding
  if (!coming.others) return { embedding }
  const others: NonNullable<FaceSample['others']> = {}
  for (const [modelId, other] of coming.others) others[modelId] = await other
  return { embedding, others }
}
