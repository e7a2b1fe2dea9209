/** The stages of one pack: finds a face in a decoded picture, aligns it, judges it and checks whether it is live. */
import type { ModelPack } from '../../../models/pack/model-pack.js'
import type { Alignment, Box, FrameFace } from '../measurements.js'
import type { FaceSample, ImageLimits, Liveness, Quality } from '../types.js'
import { chooseFace, outerWidth } from './judge/face-policy.js'
import { LIVENESS_UNCHECKED } from './judge/liveness-room.js'
import { measureChip, rateQuality, toGrey } from './judge/quality.js'
import { measureComponents } from './judge/quality-components.js'
import type { Scene } from './judge/scene.js'
import { FaceAligner } from './networks/align.js'
import { type FaceDetector, facesBy } from './networks/detect.js'
import { type Detection, scaledBox } from './networks/detection.js'
import { FaceEmbedder } from './networks/embed.js'
import { fivePointsOf68, type LandmarkFinder } from './networks/landmarks.js'
import { LivenessChecker } from './networks/liveness.js'
import type { Network } from './networks/network.js'
import { likenessToTurned, notUpright, type UprightRule, uprightRuleOf } from './networks/upright.js'
import type { StageClock } from './stage-clock.js'
import type { StageShelf } from './stage-shelf.js'

/** Options for the face of one picture. */
export interface FindOptions {
  /** Index among the caller's images. */
  imageIndex: number
  clock: StageClock
  /** Limits of the picture and its face. */
  limits: ImageLimits
  /** Looks once more where no face is found, which costs four detections. Default false: a film has many such frames. */
  looksAgain?: boolean
}

/** A face in pixels of the pyramid's base, and its points as the pack's alignment names them. */
export interface FoundFace extends Detection {
  points: Float64Array
  faces: FaceSample['faces']
}

export interface MeasuredFace {
  /** The face in pixels of the source. */
  face: Pick<FrameFace, 'imageIndex' | 'faces' | 'box' | 'landmarks' | 'quality'>
  /** Transform that cuts the embedder's chip out of the picture. */
  alignment: Alignment
  /** The embedder's chip; valid until the next one. */
  chip: Float32Array
  found: FoundFace
}

interface Stages {
  detector: FaceDetector
  landmarks: LandmarkFinder | null
  aligner: FaceAligner
  embedder: FaceEmbedder
  liveness: LivenessChecker | null
}

export class FaceModel {
  private constructor(
    readonly pack: ModelPack,
    private readonly stages: Stages,
    private readonly upright: UprightRule | null,
  ) {}

  /**
   * @param acceptTurned drops the pack's rule about faces that are not upright
   * @throws ModelPackError pack_file_missing, pack_file_mismatch, calibration_invalid; ONNX Runtime's error when the provider cannot serve
   */
  static async load(pack: ModelPack, shelf: StageShelf, acceptTurned = false): Promise<FaceModel> {
    const { embedder, liveness } = pack.manifest
    const detector = await shelf.detector(pack)
    const landmarks = await shelf.landmarks(pack)
    const embedding = new FaceEmbedder(await shelf.open(pack, embedder), embedder)
    const networks: Network[] = []
    for (const file of liveness?.networks ?? []) networks.push(await shelf.open(pack, file))
    return new FaceModel(
      pack,
      {
        detector,
        landmarks,
        aligner: new FaceAligner(embedder),
        embedder: embedding,
        liveness: liveness ? new LivenessChecker(networks, liveness) : null,
      },
      acceptTurned ? null : uprightRuleOf(pack),
    )
  }

  get embedder(): FaceEmbedder {
    return this.stages.embedder
  }

  /**
   * Runs every stage once, so that the first caller does not pay for first-time work.
   * @returns the embedding of the picture's surest face; null where it has none
   */
  async warmUp(scene: Scene, clock: StageClock): Promise<Float32Array | null> {
    const { detector, landmarks, aligner, embedder, liveness } = this.stages
    const { pyramid } = scene
    // The box is small enough that no bound keeps the liveness networks from running.
    const box = { x: 290, y: 210, width: 48, height: 48 }
    const fivePoints = Float64Array.of(290, 220, 350, 220, 320, 255, 295, 290, 345, 290)
    const [face] = await scene.detect(detector, clock)
    const found = await landmarks?.find(pyramid, face?.box ?? box)
    await liveness?.check(pyramid, box)
    const points = face ? (found ?? face.points) : null
    const embedding = await embedder.embed(
      aligner.align(pyramid, points ?? (landmarks ? spread68(box) : fivePoints)),
    )
    return points ? embedding : null
  }

  /**
   * Returns the main face and its points.
   * @throws BiometricError face_not_found, face_not_upright, multiple_faces, face_too_small
   */
  async find(
    scene: Scene,
    { imageIndex, clock, limits, looksAgain = false }: FindOptions,
  ): Promise<FoundFace> {
    const { detector, landmarks } = this.stages
    let found = facesBy(this.pack.manifest.detector, await scene.detect(detector, clock))
    if (found.length === 0 && looksAgain) {
      const again = await scene.detectAgain(detector, clock)
      if (again === null) throw notUpright(imageIndex)
      found = again
    }
    const { width, height } = scene.pyramid.base
    const { sourceScale } = scene.image
    const { face, faces } = chooseFace(found, { width, height, sourceScale }, limits, imageIndex)
    const points = landmarks ? await scene.locate(landmarks, face, clock) : face.points
    if (!points) throw new Error('neither the detector nor a landmark network finds facial points')
    return { ...face, points, faces }
  }

  /** Finds and measures the main face. @throws BiometricError as `find` does */
  async measure(scene: Scene, options: FindOptions): Promise<MeasuredFace> {
    const { imageIndex, clock } = options
    const { sourceScale } = scene.image
    const found = await this.find(scene, options)
    const alignment = this.stages.aligner.alignmentOf(found.points)
    const chip = await this.cut(scene, alignment, clock)
    const quality = await clock.measure('align', () => this.judge(chip, found, sourceScale))
    const box = scaledBox(found.box, sourceScale)
    const landmarks = pairs(this.fivePoints(found).map((value) => value * sourceScale))
    const face = { imageIndex, faces: found.faces, box, landmarks, quality }
    return { face, alignment, chip, found }
  }

  /** Returns the embedder's chip of a face without measuring it; valid until the next one. */
  chipOf(scene: Scene, { points }: FoundFace, clock: StageClock): Promise<Float32Array> {
    return this.cut(scene, this.stages.aligner.alignmentOf(points), clock)
  }

  /** Cuts the embedder's chip out of the picture; it is valid until the next one. */
  cut(scene: Scene, alignment: Alignment, clock: StageClock): Promise<Float32Array> {
    return clock.measure('align', () => this.stages.aligner.cut(scene.pyramid, alignment))
  }

  /** @param embedding of this pack @throws BiometricError face_not_upright */
  assertUpright(embedding: Float32Array, imageIndex: number): void {
    const { upright } = this
    if (upright && likenessToTurned(upright.axis, embedding) >= upright.bound) throw notUpright(imageIndex)
  }

  /** Embeds a face in a run of its own to refuse it if it is not upright. @throws BiometricError face_not_upright */
  async assertUprightChip(chip: Float32Array, imageIndex: number): Promise<void> {
    if (this.upright) this.assertUpright(await this.embedder.embed(chip), imageIndex)
  }

  async checkLiveness({ pyramid }: Scene, box: Box, clock: StageClock): Promise<Liveness> {
    const checker = this.stages.liveness
    return checker ? clock.measure('liveness', () => checker.check(pyramid, box)) : LIVENESS_UNCHECKED
  }

  private judge(chip: Float32Array, face: FoundFace, sourceScale: number): Quality {
    const { input } = this.pack.manifest.embedder
    const grey = toGrey(chip, input)
    const rated = rateQuality(measureChip(grey, input), outerWidth(face.box, sourceScale), face.score)
    const five = this.fivePoints(face)
    const points = this.stages.aligner.toChip(face.points, five)
    const { width, height } = input
    const components = measureComponents(
      { grey, width, height, points },
      five.map((value) => value * sourceScale),
      this.stages.landmarks && face.points,
    )
    return { ...rated, components: { ...components, sharpness: rated.sharpness } }
  }

  private fivePoints({ points }: FoundFace): Float64Array {
    return this.stages.landmarks ? fivePointsOf68(points) : points
  }
}

function pairs(points: Float64Array): Array<[number, number]> {
  return Array.from({ length: points.length / 2 }, (_, i) => [points[2 * i]!, points[2 * i + 1]!])
}

/** Returns 68 points spread over a box, so that any subset of them gives a proper transform. */
function spread68(box: Box): Float64Array {
  const at = (i: number) => [
    box.x + ((i * 7) % 17) * (box.width / 17),
    box.y + ((i * 5) % 13) * (box.height / 13),
  ]
  return Float64Array.from(Array.from({ length: 68 }, (_, i) => at(i)).flat())
}
