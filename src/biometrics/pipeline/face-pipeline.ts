/** Takes one image through the engine: decode, detect, choose, align, judge, check liveness, embed. */

import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { NetworkFile } from '../../../models/pack/pack-schema.js'
import type { Alignment, FrameFace } from '../measurements.js'
import type { FaceSample, ImageLimits, Liveness, Quality } from '../types.js'
import { FaceAligner } from './align.js'
import { decodeImage } from './decode.js'
import type { DecodedImage } from './decode-pixels.js'
import { FaceDetector } from './detect.js'
import type { Detection } from './detection.js'
import { FaceEmbedder } from './embed.js'
import { chooseFace, outerWidth } from './face-policy.js'
import { ImagePyramid } from './image-pyramid.js'
import { fivePointsOf68, LandmarkFinder } from './landmarks.js'
import { LIVENESS_UNCHECKED, LivenessChecker } from './liveness.js'
import { Mutex } from './mutex.js'
import { loadNetwork, type Network, type NetworkOpener } from './network.js'
import { measureChip, rateQuality, toGrey } from './quality.js'
import { measureComponents } from './quality-components.js'
import { assertLive, assertQuality } from './refusals.js'
import { StageClock } from './stage-clock.js'

export interface PipelineOptions {
  /** The execution provider that runs every network. */
  provider: string
  /** Opens each network. Default: loads it into a session of this thread, on `provider`. */
  open?: NetworkOpener
  /** Limits of an image and its face. */
  limits: ImageLimits
}

/** Options for one image. */
export interface AnalyseOptions {
  /** Index among the caller's images, for samples and refusals. Default 0. */
  imageIndex?: number
  /** Refuses a face that fails the liveness check (enrollment) instead of reporting it. Default false. */
  strictLiveness?: boolean
  /** Receives the duration of each stage. Default: a clock that is dropped. */
  clock?: StageClock
}

/** Options for one frame of a challenge. */
interface LookOptions {
  /** Index among the frames. */
  imageIndex: number
  checkLiveness: boolean
  clock: StageClock
  /** Limits of the frame. Default: those of every image. */
  limits?: ImageLimits
}

/** Measurements of one frame of a challenge. */
interface FrameLook {
  face: FrameFace
  /** Transform that cuts the embedder's chip out of the frame. */
  alignment: Alignment
  liveness: Liveness
}

/** A face in pixels of the pyramid's base, and its points as the pack's alignment names them. */
interface FoundFace extends Detection {
  points: Float64Array
  faces: FaceSample['faces']
}

/** A measured face whose embedding is under way. */
interface PreparedFace {
  face: Omit<FaceSample, 'embedding'>
  embedding: Promise<Float32Array>
}

/**
 * Owns the loaded networks and their buffers: one per worker. Several images are decoded at once, on libuv's threads;
 * after that one image at a time has the networks, except that waiting faces are embedded together.
 */
export class FacePipeline {
  readonly pack: ModelPack
  readonly limits: ImageLimits
  private readonly networks: Network[] = []
  private readonly mutex = new Mutex()
  /** Number of decoded pictures that hold or wait for the networks and will add a face to the embedder. */
  private facesComing = 0
  private detector!: FaceDetector
  private landmarks: LandmarkFinder | null = null
  private aligner!: FaceAligner
  private liveness: LivenessChecker | null = null
  private embedder!: FaceEmbedder

  private constructor(pack: ModelPack, limits: ImageLimits) {
    this.pack = pack
    this.limits = limits
  }

  /**
   * Loads every network of a pack on one execution provider, checking each file's hash as it is read, and runs each
   * once. Blocks the calling thread for most of the time.
   * @throws ModelPackError pack_file_missing, pack_file_mismatch; ONNX Runtime's error when the provider cannot serve
   */
  static async load(pack: ModelPack, options: PipelineOptions): Promise<FacePipeline> {
    const { provider, open = (from, file) => loadNetwork(from, file, provider) } = options
    const pipeline = new FacePipeline(pack, options.limits)
    try {
      await pipeline.loadNetworks(open)
      await pipeline.warmUp()
      return pipeline
    } catch (error) {
      await pipeline.release()
      throw error
    }
  }

  private async loadNetworks(opener: NetworkOpener): Promise<void> {
    const { detector, landmarks, embedder, liveness } = this.pack.manifest
    const open = async (file: NetworkFile) => {
      const network = await opener(this.pack, file)
      this.networks.push(network)
      return network
    }
    this.detector = new FaceDetector(await open(detector), detector)
    if (landmarks) this.landmarks = new LandmarkFinder(await open(landmarks), landmarks)
    this.aligner = new FaceAligner(embedder)
    this.embedder = new FaceEmbedder(await open(embedder), embedder)
    if (liveness) {
      const networks: Network[] = []
      for (const file of liveness.networks) networks.push(await open(file))
      this.liveness = new LivenessChecker(networks, liveness)
    }
  }

  /** Runs every stage once on a gray picture, so that the first caller does not pay for first-time work. */
  async warmUp(): Promise<void> {
    const [width, height] = [640, 480]
    const data = new Uint8Array(width * height * 3).fill(128)
    const pyramid = new ImagePyramid({ data, width, height })
    // The box is small enough that no bound keeps the liveness networks from running.
    const box = { x: 290, y: 210, width: 48, height: 48 }
    const fivePoints = Float64Array.of(290, 220, 350, 220, 320, 255, 295, 290, 345, 290)
    await this.detector.detect(pyramid)
    await this.landmarks?.find(pyramid, box)
    await this.liveness?.check(pyramid, box)
    const points = this.landmarks ? spread68(box) : fivePoints
    await this.embedder.embed(this.aligner.align(pyramid, points))
  }

  /** @throws BiometricError with `imageIndex`, when the image cannot be used */
  async analyse(bytes: Uint8Array, options: AnalyseOptions = {}): Promise<FaceSample> {
    const { imageIndex = 0, strictLiveness = false, clock = new StageClock() } = options
    const image = await clock.measure('decode', () =>
      decodeImage(bytes, this.limits, imageIndex, clock.signal),
    )
    const prepared = await this.inTurn(image, clock, true, (pyramid) =>
      this.prepare(image, pyramid, { imageIndex, strictLiveness, clock }),
    )
    return { ...prepared.face, embedding: await prepared.embedding }
  }

  /**
   * Measures the face of a challenge's frame, refusing nothing for its quality. `embed` needs the result.
   * @throws BiometricError with `imageIndex`, when the frame shows no usable face
   */
  async look(bytes: Uint8Array, options: LookOptions): Promise<FrameLook> {
    const { imageIndex, checkLiveness, clock, limits = this.limits } = options
    const image = await clock.measure('decode', () => decodeImage(bytes, limits, imageIndex, clock.signal))
    return this.inTurn(image, clock, false, async (pyramid) => {
      const { face, alignment, found } = await this.measureFace(image, pyramid, { imageIndex, clock, limits })
      const liveness = checkLiveness
        ? await this.checkLiveness(pyramid, found.box, clock)
        : LIVENESS_UNCHECKED
      const { width, height } = image
      return { face: { ...face, width, height }, alignment, liveness }
    })
  }

  /**
   * Returns the embedding of a face that `look` found.
   * @param bytes the same frame: it is decoded again, so that nothing of it is kept between the two tasks
   * @param alignment result of `look`
   * @returns [dimensions] float32, the same to the bit as `analyse` would give
   */
  async embed(
    bytes: Uint8Array,
    alignment: Alignment,
    { imageIndex, clock, limits = this.limits }: Pick<LookOptions, 'imageIndex' | 'clock' | 'limits'>,
  ): Promise<Float32Array> {
    const image = await clock.measure('decode', () => decodeImage(bytes, limits, imageIndex, clock.signal))
    const { embedding } = await this.inTurn(image, clock, true, async (pyramid) => {
      const chip = await clock.measure('align', () => this.aligner.cut(pyramid, alignment))
      // The object keeps the embedding's promise from being awaited while the lock is held.
      return { embedding: this.embedder.add(chip, clock) }
    })
    return embedding
  }

  /**
   * Runs `work` while no other picture has the networks, and frees the picture's pixels afterwards.
   * @param bringsFace true if `work` adds a face to the embedder, unless it fails
   */
  private async inTurn<T>(
    image: DecodedImage,
    clock: StageClock,
    bringsFace: boolean,
    work: (pyramid: ImagePyramid) => Promise<T>,
  ): Promise<T> {
    if (bringsFace) this.facesComing++
    const pyramid = new ImagePyramid(image.pixels)
    let leave = () => {}
    try {
      leave = await clock.measure('queue', () => this.mutex.lock())
      return await work(pyramid)
    } finally {
      pyramid.release()
      if (bringsFace) this.facesComing--
      leave()
      // A face whose picture is decoded already joins the run. A frame that is only measured brings no face to wait
      // for.
      if (this.facesComing === 0 || this.embedder.isFull) void this.embedder.run()
    }
  }

  /** Takes the picture through every stage up to the embedding, and adds its face to the embedder. */
  private async prepare(
    image: DecodedImage,
    pyramid: ImagePyramid,
    { imageIndex, strictLiveness, clock }: Required<AnalyseOptions>,
  ): Promise<PreparedFace> {
    const { limits } = this
    const measured = await this.measureFace(image, pyramid, { imageIndex, clock, limits })
    const { face, chip, found } = measured
    assertQuality(face, this.pack.manifest.quality)
    const liveness = await this.checkLiveness(pyramid, found.box, clock)
    if (strictLiveness) assertLive(liveness, imageIndex)
    return { face: { ...face, liveness }, embedding: this.embedder.add(chip, clock) }
  }

  /** Returns the face in pixels of the source, its alignment, its chip (valid until the next one) and the detection. */
  private async measureFace(
    image: DecodedImage,
    pyramid: ImagePyramid,
    options: Required<Omit<LookOptions, 'checkLiveness'>>,
  ) {
    const { sourceScale } = image
    const { imageIndex, clock } = options
    const found = await this.findFace(image, pyramid, options)
    const alignment = this.aligner.alignmentOf(found.points)
    const chip = await clock.measure('align', () => this.aligner.cut(pyramid, alignment))
    const quality = await clock.measure('align', () => this.judge(chip, found, sourceScale))
    const toSource = (value: number) => value * sourceScale
    const { x, y, width, height } = found.box
    const box = { x: toSource(x), y: toSource(y), width: toSource(width), height: toSource(height) }
    const landmarks = pairs(this.fivePoints(found).map(toSource))
    const face = { imageIndex, faces: found.faces, box, landmarks, quality }
    return { face, alignment, chip, found }
  }

  /** Returns the main face and its points. */
  private async findFace(
    { sourceScale }: DecodedImage,
    pyramid: ImagePyramid,
    { imageIndex, clock, limits }: Required<Omit<LookOptions, 'checkLiveness'>>,
  ): Promise<FoundFace> {
    const found = await clock.measure('detect', () => this.detector.detect(pyramid))
    const { width, height } = pyramid.base
    const { face, faces } = chooseFace(found, { width, height, sourceScale }, limits, imageIndex)
    const finder = this.landmarks
    const points = finder ? await clock.measure('align', () => finder.find(pyramid, face.box)) : face.points
    if (!points) throw new Error('neither the detector nor a landmark network finds facial points')
    return { ...face, points, faces }
  }

  private judge(chip: Float32Array, face: FoundFace, sourceScale: number): Quality {
    const { input } = this.pack.manifest.embedder
    const grey = toGrey(chip, input)
    const rated = rateQuality(measureChip(grey, input), outerWidth(face.box, sourceScale), face.score)
    const five = this.fivePoints(face)
    const points = this.aligner.toChip(face.points, five)
    const { width, height } = input
    const components = measureComponents(
      { grey, width, height, points },
      five.map((value) => value * sourceScale),
      this.landmarks && face.points,
    )
    return { ...rated, components: { ...components, sharpness: rated.sharpness } }
  }

  private fivePoints({ points }: FoundFace): Float64Array {
    return this.landmarks ? fivePointsOf68(points) : points
  }

  private async checkLiveness(
    pyramid: ImagePyramid,
    box: FaceSample['box'],
    clock: StageClock,
  ): Promise<Liveness> {
    const checker = this.liveness
    return checker ? clock.measure('liveness', () => checker.check(pyramid, box)) : LIVENESS_UNCHECKED
  }

  /** Frees the native memory. The pipeline cannot be used afterwards. */
  async release(): Promise<void> {
    for (const network of this.networks.splice(0)) await network.release()
  }
}

function pairs(points: Float64Array): Array<[number, number]> {
  return Array.from({ length: points.length / 2 }, (_, i) => [points[2 * i]!, points[2 * i + 1]!])
}

/** Returns 68 points spread over a box, so that any subset of them gives a proper transform. */
function spread68(box: FaceSample['box']): Float64Array {
  const at = (i: number) => [
    box.x + ((i * 7) % 17) * (box.width / 17),
    box.y + ((i * 5) % 13) * (box.height / 13),
  ]
  return Float64Array.from(Array.from({ length: 68 }, (_, i) => at(i)).flat())
}
