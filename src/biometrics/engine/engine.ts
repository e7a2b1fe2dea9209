/**
 * The biometric engine as the service sees it: its operations, and the decisions that follow from the workers'
 * measurements. Nothing here computes on pixels; calls return promises and never block. `dispatcher.ts` has the
 * queue.
 */

import {
  loadModelPack,
  type ModelPack,
  samePersonThreshold,
  verifyModelPack,
} from '../../../models/pack/model-pack.js'
import type { FrameGuidance } from '../../capture/guidance-codes.js'
import { judgeGeometry, keyIndices } from '../challenge/active-geometry.js'
import { livenessFrames, meanLiveness } from '../challenge/film-liveness.js'
import { guidanceOn, leastFaceShare } from '../challenge/frame-guidance.js'
import { showsOneFace } from '../challenge/same-face.js'
import type { InjectedFault, WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerValues } from '../channel/worker-messages.js'
import type { FrameFace } from '../measurements.js'
import { findOddOne, fuseEmbeddings, scoreOf, weightedEmbeddingOf } from '../pipeline/match.js'
import { adviceOn, assessQuality, faultsOf } from '../pipeline/quality-bounds.js'
import {
  BiometricError,
  type CallOptions,
  type ChallengeFrames,
  type ChallengeResult,
  type CompareResult,
  type EngineHealth,
  type EngineOptions,
  type EnrolOptions,
  type EnrolResult,
  type FaceSample,
  type GuideFrames,
  type InspectResult,
  type Liveness,
  type SchedulingClass,
  type StageTimings,
  type VerifyResult,
} from '../types.js'
import { addTimings, Dispatcher } from './dispatcher.js'
import { EngineProcess } from './engine-process.js'

export class Engine {
  /** The pack whose references and scores this engine understands. */
  readonly pack: ModelPack
  private readonly options: EngineOptions
  /** Lowest score of two photos of one person. It is computed once from the whole calibration, which takes 0.05 ms. */
  private readonly samePersonThreshold: number
  private readonly dispatcher: Dispatcher
  private pool!: EngineProcess
  private closed: Promise<void> | null = null

  private constructor(pack: ModelPack, options: EngineOptions) {
    this.pack = pack
    this.options = options
    this.samePersonThreshold = samePersonThreshold(pack)
    this.dispatcher = new Dispatcher(options)
  }

  /**
   * Checks the pack, starts the workers and resolves when each has loaded and tried every network.
   * @throws ModelPackError when the pack is unusable; ONNX Runtime's error when its networks cannot be loaded
   */
  static async start(options: EngineOptions): Promise<Engine> {
    if (!(Number.isInteger(options.workers) && options.workers > 0)) {
      throw new TypeError('workers must be a positive integer')
    }
    const pack = await loadModelPack(options.packDir)
    await verifyModelPack(pack)
    const engine = new Engine(pack, options)
    const { executionProviders, limits, workers, pingIntervalMs, faultInjection = false } = options
    engine.pool = await EngineProcess.start({
      pack,
      executionProviders,
      limits,
      faultInjection,
      workers,
      pingIntervalMs,
      onChange: () => engine.dispatcher.pump(),
      onIncident: (incident) => options.onIncident?.(incident),
    })
    engine.dispatcher.serve(engine.pool)
    return engine
  }

  /**
   * Makes a reference from one or more images of one person; every image must be usable, good enough to enroll with,
   * and match each of the others.
   * @throws BiometricError any code; `imageIndex` names the image to blame
   */
  async enrol(images: readonly Uint8Array[], call: EnrolOptions = {}): Promise<EnrolResult> {
    assertAny(images)
    const { value, timingsMs } = await this.submit({ type: 'enrol', images }, call)
    const { samples } = value
    return timed(timingsMs, () => {
      this.assertOneOfEach(samples, images)
      const { quality: spec } = this.pack.manifest
      const faults = samples.flatMap(({ quality, imageIndex }) =>
        faultsOf(assessQuality(quality.components, 'enrol', spec), imageIndex),
      )
      if (faults.length > 0 && !call.assessOnly)
        throw new BiometricError('low_quality', adviceOn(faults), faults[0]!.imageIndex, { faults })
      this.assertOnePerson(samples)
      const { embedding, weight } = fuseEmbeddings(
        samples.map(weightedEmbeddingOf),
        this.pack.manifest.embedder,
      )
      const { quality } = bestOf(samples)
      const liveness = weakestLiveness(samples)
      return { reference: embedding, weight, quality, liveness, samples, timingsMs }
    })
  }

  /**
   * Compares a capture with a reference. Several images count as frames of one capture, and the usable one of best
   * quality is compared: a single comparison, however many images there are, keeps the false match rate that the
   * threshold stands for. A failed liveness check of any frame is reported in the sample, not thrown. The reference
   * never leaves this process.
   * @param reference [dimensions] float32 made by `enrol` with the same pack; or a function that decrypts it, which
   * is called once the images are on their way
   * @throws BiometricError any code but `liveness_failed`; if several images are unusable, the code of the first one
   */
  async verify(
    images: readonly Uint8Array[],
    reference: Float32Array | (() => Float32Array),
    call: CallOptions = {},
  ): Promise<VerifyResult> {
    assertAny(images)
    const [{ value, timingsMs }, known] = await Promise.all([
      this.submit({ type: 'verify', images }, call),
      this.opened(reference),
    ])
    const { samples } = value
    return timed(timingsMs, () => {
      this.assertOneOfEach(samples, images)
      this.assertOnePerson(samples)
      const chosen = bestOf(samples)
      const score = scoreOf(this.pack, chosen.embedding, known)
      const sample = { ...chosen, liveness: weakestLiveness(samples) }
      return { score, sample, samples, timingsMs }
    })
  }

  /**
   * Judges a series of frames: first whether they show one head that did what the steps ask, then whether the person
   * is the one of the reference, if there is one. A pack without `activeLiveness` has no challenges.
   * @param notes one note a frame, in order
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded,
   * cancelled or engine_unavailable
   */
  async challenge(
    images: readonly Uint8Array[],
    { notes, steps }: ChallengeFrames,
    reference: Float32Array | null,
    call: CallOptions = {},
  ): Promise<ChallengeResult> {
    const { activeLiveness, quality, embedder } = this.pack.manifest
    if (!activeLiveness) throw new TypeError('the pack takes no challenge')
    if (reference && reference.length !== embedder.dimensions)
      throw new TypeError('the reference was not made with this pack')
    assertAny(images)
    return this.dispatcher.accept(async () => {
      const { looks, alignments, liveness, timingsMs } = await this.lookAtAll(images, { notes, steps }, call)
      const verdict = timed(timingsMs, () => judgeGeometry(looks, notes, steps, { activeLiveness, quality }))
      if (!verdict.keys) return { fault: verdict.fault, liveness, samples: [], score: null, timingsMs }
      const { keys } = verdict
      const indices = keyIndices(keys)
      const tasks = indices.map((imageIndex) => {
        const alignment = alignments[imageIndex]
        if (!alignment) throw garbled()
        return { type: 'embed' as const, images: [images[imageIndex]!] as const, imageIndex, alignment }
      })
      const embedded = await this.dispatcher.performMore(tasks, call)
      addTimings(timingsMs, embedded.timingsMs)
      return timed(timingsMs, () => {
        const samples = indices.map((imageIndex, i) => {
          const { quality, faces } = looks[imageIndex] as FrameFace
          return { imageIndex, embedding: embedded.values[i]!.embedding, quality, faces }
        })
        const embeddingOf = (imageIndex: number) => embedded.values[indices.indexOf(imageIndex)]!.embedding
        const isOnePerson = showsOneFace(this.pack, keys, embeddingOf)
        return {
          fault: isOnePerson ? null : { guidance: 'try_again' as const, finding: 'face_changed' as const },
          liveness,
          samples,
          score: reference && scoreOf(this.pack, samples[0]!.embedding, reference),
          timingsMs,
        }
      })
    })
  }

  /**
   * Measures each frame of a challenge in a task of its own. Only the measurements of a frame are kept, and none of
   * its pixels.
   */
  private async lookAtAll(images: readonly Uint8Array[], frames: ChallengeFrames, call: CallOptions) {
    const judged = livenessFrames(frames.notes, frames.steps)
    const tasks = images.map((image, imageIndex) => ({
      type: 'look' as const,
      images: [image] as const,
      imageIndex,
      checkLiveness: judged.has(imageIndex),
    }))
    const { values, timingsMs } = await this.dispatcher.perform(tasks, call)
    if (values.some(({ look }, i) => look.imageIndex !== i)) throw garbled()
    const { threshold = 0 } = this.pack.manifest.liveness ?? {}
    return {
      looks: values.map(({ look }) => look),
      alignments: values.map(({ alignment }) => alignment),
      liveness: meanLiveness(
        values.map(({ liveness }) => liveness),
        threshold,
      ),
      timingsMs,
    }
  }

  /**
   * Returns guidance for the person from a small frame, the most urgent code first, or none when nothing is left to
   * correct. Guidance identifies nobody and never delays a verdict: if no worker has a free place, the call is
   * refused.
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded,
   * cancelled or engine_unavailable
   */
  async guide({ image, step, frontal }: GuideFrames, call: CallOptions = {}): Promise<FrameGuidance[]> {
    if (!this.dispatcher.hasPlaceFor(call.schedulingClass))
      throw new BiometricError('overloaded', 'The workers are busy with verdicts; try again shortly.')
    const images = frontal ? [image, frontal] : [image]
    const { value } = await this.submit({ type: 'guide', images }, call)
    const { looks, luminance } = value
    if (looks.length !== images.length) throw garbled()
    const [look, ahead = null] = looks
    const minFaceShare = leastFaceShare(this.options.limits)
    const seen = { look: look!, luminance, step, frontal: ahead }
    return guidanceOn(seen, { ...this.pack.manifest, minFaceShare })
  }

  /** Finds and compares the faces of two images, and keeps nothing. @throws BiometricError as `verify` does */
  async compare(a: Uint8Array, b: Uint8Array, call: CallOptions = {}): Promise<CompareResult> {
    const { value, timingsMs } = await this.submit({ type: 'compare', images: [a, b] }, call)
    const [first, second] = value.samples
    return timed(timingsMs, () => {
      const score = scoreOf(this.pack, first.embedding, second.embedding)
      return { score, samples: value.samples, timingsMs }
    })
  }

  /**
   * Decodes images without looking for faces.
   * @param call `maxPixels`: a lower limit than the engine's own, in pixels; `areFrames`: use the engine's limit for
   * frames of a challenge
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded,
   * cancelled or engine_unavailable
   */
  async inspect(
    images: readonly Uint8Array[],
    { areFrames = false, ...call }: CallOptions & { maxPixels?: number; areFrames?: boolean } = {},
  ): Promise<InspectResult> {
    assertAny(images)
    const maxPixels = areFrames ? this.options.limits.maxFramePixels : call.maxPixels
    const tasks = images.map((image, imageIndex) => ({
      type: 'inspect' as const,
      images: [image] as const,
      imageIndex,
      ...(maxPixels === undefined ? {} : { maxPixels }),
    }))
    const { values, timingsMs } = await this.dispatcher.accept(() => this.dispatcher.perform(tasks, call))
    return { images: values, timingsMs }
  }

  /** Returns whether one more call of this flow would be `overloaded`. */
  isSaturatedFor(schedulingClass: SchedulingClass): boolean {
    return this.dispatcher.isSaturatedFor(schedulingClass)
  }

  health(): EngineHealth {
    const configured = this.options.workers
    const ready = this.closed ? 0 : this.pool.readyCount
    const isSilent = !this.closed && this.pool.isSilent
    const isWhole =
      ready === configured && !isSilent && !this.dispatcher.isDraining && !this.pool.isAcceleratorLost
    return {
      status: isWhole ? 'ok' : 'degraded',
      workers: { ready, configured },
      isSilent,
      queue: { ...this.dispatcher.counts, limit: this.options.queueLimit },
      provider: this.pool.provider,
      isAcceleratorLost: this.pool.isAcceleratorLost,
      model: this.pack.modelId,
      processId: this.pool.processId,
    }
  }

  /** Accepts no further call; resolves when every accepted one has left its worker. */
  drain(): Promise<void> {
    return this.dispatcher.drain()
  }

  /** Drains, then ends the threads. Safe to call twice. */
  close(): Promise<void> {
    this.closed ??= this.drain().then(() => this.pool.close())
    return this.closed
  }

  /** Breaks the worker that takes this task, for tests; needs `faultInjection`. Resolves when the task is done. */
  async injectFault(fault: InjectedFault): Promise<void> {
    await this.submit({ type: 'fault', fault }, {})
  }

  /** @throws BiometricError engine_unavailable when a worker reports images that it was not given */
  private assertOneOfEach(samples: readonly FaceSample[], images: readonly Uint8Array[]): void {
    const indices = new Set(samples.map(({ imageIndex }) => imageIndex))
    if (indices.size !== samples.length || Math.max(...indices) >= images.length) throw garbled()
  }

  /** @throws BiometricError different_people */
  private assertOnePerson(samples: readonly FaceSample[]): void {
    const embeddings = samples.map(({ embedding }) => embedding)
    const odd = findOddOne(this.pack, embeddings, this.samePersonThreshold)
    if (odd === null) return
    throw new BiometricError(
      'different_people',
      'The image does not show the person that the others show.',
      samples[odd]!.imageIndex,
    )
  }

  /** @throws TypeError when the reference was not made with this pack */
  private async opened(reference: Float32Array | (() => Float32Array)): Promise<Float32Array> {
    const known = typeof reference === 'function' ? reference() : reference
    if (known.length !== this.pack.manifest.embedder.dimensions)
      throw new TypeError('the reference was not made with this pack')
    return known
  }

  private async submit<T extends WorkerTask>(
    task: T,
    options: CallOptions,
  ): Promise<{ value: WorkerValues[T['type']]; timingsMs: StageTimings }> {
    const { values, timingsMs } = await this.dispatcher.accept(() => this.dispatcher.perform([task], options))
    return { value: values[0]!, timingsMs }
  }
}

/** Error for a worker that reports images that it was not given. */
function garbled(): BiometricError {
  return new BiometricError('engine_unavailable', 'The engine could not process the request.')
}

function bestOf(samples: readonly FaceSample[]): FaceSample {
  return samples.reduce((a, b) => (b.quality.score > a.quality.score ? b : a))
}

/**
 * The lowest liveness of all samples. Frames are not further attempts: a single frame that is not live, or could not
 * be judged, decides.
 */
function weakestLiveness(samples: readonly FaceSample[]): Liveness {
  const strength = ({ checked, score }: Liveness) =>
    checked ? (score ?? Number.NEGATIVE_INFINITY) : Number.POSITIVE_INFINITY
  return samples.map(({ liveness }) => liveness).reduce((a, b) => (strength(b) < strength(a) ? b : a))
}

/** Runs `match` and adds its duration to `timingsMs`. */
function timed<T>(timingsMs: StageTimings, match: () => T): T {
  const startedAt = performance.now()
  try {
    return match()
  } finally {
    timingsMs.match = (timingsMs.match ?? 0) + performance.now() - startedAt
  }
}

function assertAny(images: readonly Uint8Array[]): void {
  if (images.length === 0) throw new TypeError('at least one image is needed')
}
