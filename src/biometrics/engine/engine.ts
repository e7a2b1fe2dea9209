/**
 * The biometric engine as the service sees it: its operations, and the decisions that follow from the workers'
 * measurements. Nothing here computes on pixels; calls return promises and never block. `dispatcher.ts` has the
 * queue.
 */

import { loadModelPack, type ModelPack, verifyModelPack } from '../../../models/pack/model-pack.js'
import { ModelPackError } from '../../../models/pack/model-pack-error.js'
import type { InjectedFault, WorkerTask } from '../channel/engine-protocol.js'
import type { WorkerValues } from '../channel/worker-messages.js'
import { faultsOf } from '../pipeline/judge/component-finding.js'
import { assessQuality, lowQuality } from '../pipeline/judge/quality-bounds.js'
import {
  BiometricError,
  type CallOptions,
  type EngineHealth,
  type EngineOptions,
  type EnrolOptions,
  type EnrolResult,
  type FrameLimits,
  type Glance,
  type OtherBounds,
  type PackChoice,
  type SchedulingClass,
  type StageTimings,
  type VerifyResult,
} from '../types.js'
import { Decider, type FusedSample } from './decider.js'
import { Dispatcher } from './dispatcher.js'
import { EngineProcess } from './engine-process.js'
import { FrameSeries, type TaskPacks } from './frame-series.js'
import { assertAny, assertOneOfEach, bestOf, garbled, timed, weakestLiveness } from './samples.js'

export class Engine {
  /** The primary pack: it decides unless a call names another. */
  readonly pack: ModelPack
  /** Every pack whose references and scores this engine understands, by model id, the primary one first. */
  readonly packs: ReadonlyMap<string, ModelPack>
  private readonly deciders: ReadonlyMap<string, Decider>
  private readonly dispatcher: Dispatcher
  private pool!: EngineProcess
  private closed: Promise<void> | null = null

  private constructor(
    packs: readonly ModelPack[],
    private readonly options: EngineOptions,
  ) {
    this.pack = packs[0]!
    this.packs = new Map(packs.map((pack) => [pack.modelId, pack]))
    this.deciders = new Map(packs.map((pack) => [pack.modelId, new Decider(pack)]))
    this.dispatcher = new Dispatcher(options)
  }

  /**
   * Checks the packs, starts the workers and resolves when each has loaded and tried every network.
   * @throws ModelPackError when a pack is unusable, or two have the same model id; ONNX Runtime's error when its networks cannot be loaded
   */
  static async start(options: EngineOptions): Promise<Engine> {
    if (!(Number.isInteger(options.workers) && options.workers > 0)) {
      throw new TypeError('workers must be a positive integer')
    }
    const packs = await loadPacks([options.packDir, ...(options.followingPackDirs ?? [])])
    const [pack, ...otherPacks] = packs
    const engine = new Engine(packs, options)
    const { executionProviders, limits, workers, pingIntervalMs, signal, faultInjection = false } = options
    engine.pool = await EngineProcess.start({
      pack: pack!,
      otherPacks,
      executionProviders,
      limits,
      faultInjection,
      workers,
      pingIntervalMs,
      signal,
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
    const decider = this.deciderOf(call)
    const packs = this.packsOf(call)
    const { value, timingsMs } = await this.submit({ type: 'enrol', images, ...packs }, call)
    const { samples } = value
    return timed(timingsMs, () => {
      assertOneOfEach(samples, images)
      const { quality: spec } = decider.pack.manifest
      const faults = samples.flatMap(({ quality, imageIndex }) =>
        faultsOf(assessQuality(quality.components, 'enrol', spec), imageIndex),
      )
      if (faults.length > 0 && !call.assessOnly) throw lowQuality(faults)
      decider.assertOnePerson(samples)
      const { quality } = bestOf(samples)
      const liveness = weakestLiveness(samples)
      return { ...this.fuse(samples, call), quality, liveness, samples, timingsMs }
    })
  }

  /**
   * Compares a capture with a reference. Several images count as frames of one capture, and the usable one of best
   * quality is compared: a single comparison, however many images there are, keeps the false match rate that the
   * threshold stands for. A failed liveness check of any frame is reported in the sample, not thrown. The reference
   * never leaves this process.
   * @param reference [dimensions] float32 made by `enrol` with the pack that decides; or a function that decrypts it, which
   * is called once the images are on their way
   * @throws BiometricError any code but `liveness_failed`; if several images are unusable, the code of the first one
   */
  async verify(
    images: readonly Uint8Array[],
    reference: Float32Array | (() => Float32Array),
    call: CallOptions & PackChoice & { bounds?: OtherBounds | undefined } = {},
  ): Promise<VerifyResult> {
    assertAny(images)
    const decider = this.deciderOf(call)
    const { bounds } = call
    const choice = { ...this.packsOf(call), ...(bounds ? { bounds } : {}) }
    const [{ value, timingsMs }, known] = await Promise.all([
      this.submit({ type: 'verify', images, ...choice }, call),
      opened(reference, decider),
    ])
    const { samples } = value
    return timed(timingsMs, () => {
      assertOneOfEach(samples, images)
      decider.assertOnePerson(samples)
      const chosen = bestOf(samples)
      const score = decider.scoreOf(chosen.embedding, known)
      const sample = { ...chosen, liveness: weakestLiveness(samples) }
      return { score, sample, samples, timingsMs }
    })
  }

  /**
   * Lets `judge` have frames measured and embedded as one request: a drain waits for it once it is accepted, and a full queue refuses
   * only its first tasks.
   * @throws BiometricError engine_unavailable while draining; what `judge` throws
   */
  async series<Outcome>(
    images: readonly Uint8Array[],
    call: CallOptions & PackChoice,
    judge: (frames: FrameSeries) => Promise<Outcome>,
  ): Promise<Outcome> {
    assertAny(images)
    const { pack } = this.deciderOf(call)
    const frames = new FrameSeries(pack, images, this.packsOf(call), this.dispatcher, call)
    return this.dispatcher.accept(() => judge(frames))
  }

  /**
   * Measures a small frame, and perhaps a second one that it is compared with. It identifies nobody and never delays a verdict: if no
   * worker has a free place, the call is refused.
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded,
   * cancelled or engine_unavailable
   */
  async glance(
    images: readonly Uint8Array[],
    { limits, ...call }: CallOptions & Pick<PackChoice, 'decideBy'> & { limits: FrameLimits },
  ): Promise<Glance> {
    const { pack } = this.deciderOf(call)
    if (!this.dispatcher.hasPlaceFor(call.schedulingClass))
      throw new BiometricError('overloaded', 'The workers are busy with verdicts; try again shortly.')
    const { value } = await this.submit({ type: 'glance', images, limits, decideBy: pack.modelId }, call)
    if (value.looks.length !== images.length) throw garbled()
    return { ...value, pack, minFacePx: this.options.limits.minFacePx }
  }

  /** Makes the reference of one person's samples by the pack that decides, and those by the packs that follow. */
  fuse(
    samples: readonly FusedSample[],
    { decideBy = this.pack.modelId, alsoEmbed = [] }: PackChoice = {},
  ): Pick<EnrolResult, 'reference' | 'weight' | 'others'> {
    const { embedding: reference, weight } = this.deciderOf({ decideBy }).fuse(samples)
    const others: EnrolResult['others'] = {}
    for (const modelId of alsoEmbed)
      if (modelId !== decideBy) others[modelId] = this.deciders.get(modelId)?.fuseFollowed(samples) ?? null
    return { reference, weight, others }
  }

  /**
   * Finds and compares the faces of two images, and keeps nothing.
   * @returns the score as `verify` gives it, and the samples of the first and of the second image
   * @throws BiometricError as `verify` does
   */
  async compare(a: Uint8Array, b: Uint8Array, call: CallOptions = {}) {
    const { value, timingsMs } = await this.submit({ type: 'compare', images: [a, b] }, call)
    const [first, second] = value.samples
    return timed(timingsMs, () => {
      const score = this.deciderOf({}).scoreOf(first.embedding, second.embedding)
      return { score, samples: value.samples, timingsMs }
    })
  }

  /**
   * Decodes images without looking for faces.
   * @param call `maxPixels`: a lower limit than the engine's own, in pixels; `areFrames`: use the engine's limit for
   * frames
   * @throws BiometricError image_unreadable, image_too_large, image_too_small, overloaded, deadline_exceeded,
   * cancelled or engine_unavailable
   */
  async inspect(
    images: readonly Uint8Array[],
    { areFrames = false, ...call }: CallOptions & { maxPixels?: number; areFrames?: boolean } = {},
  ) {
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

  /** Whether a spare call would find a place. */
  get hasSparePlace(): boolean {
    return this.dispatcher.hasSparePlace
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
      following: [...this.packs.keys()].slice(1),
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

  /** @throws TypeError for a pack that is not loaded */
  private deciderOf({ decideBy = this.pack.modelId }: PackChoice): Decider {
    const decider = this.deciders.get(decideBy)
    if (!decider) throw new TypeError(`the pack ${decideBy} is not loaded`)
    return decider
  }

  /** The packs of a task: those that follow are left out where there are none. */
  private packsOf({ decideBy = this.pack.modelId, alsoEmbed = [] }: PackChoice): TaskPacks {
    const following = [...new Set(alsoEmbed)].filter((id) => id !== decideBy && this.packs.has(id))
    return { decideBy, ...(following.length === 0 ? {} : { alsoEmbed: following }) }
  }

  private async submit<T extends WorkerTask>(
    task: T,
    options: CallOptions,
  ): Promise<{ value: WorkerValues[T['type']]; timingsMs: StageTimings }> {
    const { values, timingsMs } = await this.dispatcher.accept(() => this.dispatcher.perform([task], options))
    return { value: values[0]!, timingsMs }
  }
}

/** @throws TypeError when the reference was not made with the pack that decides */
async function opened(
  reference: Float32Array | (() => Float32Array),
  decider: Decider,
): Promise<Float32Array> {
  const known = typeof reference === 'function' ? reference() : reference
  decider.assertOwn(known)
  return known
}

/**
 * Reads and checks the packs of an engine.
 * @param dirs folders of the packs, the primary one first
 * @throws ModelPackError when a pack is unusable, or two have the same model id
 */
async function loadPacks(dirs: readonly string[]): Promise<ModelPack[]> {
  const packs: ModelPack[] = []
  for (const dir of dirs) {
    const pack = await loadModelPack(dir)
    const twin = packs.find(({ modelId }) => modelId === pack.modelId)
    if (twin)
      throw new ModelPackError(
        'pack_invalid',
        `${twin.dir} and ${dir} are both ${pack.modelId}: packs that are active together need different model ids`,
      )
    await verifyModelPack(pack)
    packs.push(pack)
  }
  return packs
}
