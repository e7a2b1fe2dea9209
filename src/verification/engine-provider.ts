/** Production's biometric provider: asks the engine, and translates its errors where they enter. */

import type { PhotoGuidance } from '../../clients/capture/guidance-codes.js'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import { type ModelPack, replayScore, thresholdForFmr } from '../../models/pack/model-pack.js'
import { gradeOf } from '../../models/pack/pack-grade.js'
import type { Engine } from '../biometrics/engine/engine.js'
import { guidanceOfRefusal } from '../biometrics/picture-guidance.js'
import { faultsOf } from '../biometrics/pipeline/judge/component-finding.js'
import { fuseEmbeddings, scoreOf, weightedEmbeddingOf } from '../biometrics/pipeline/judge/match.js'
import { assessQuality, lowQuality } from '../biometrics/pipeline/judge/quality-bounds.js'
import {
  BiometricError,
  type FaceSample,
  type FrameLimits,
  type Glance,
  type Liveness,
  type WeightedEmbedding,
} from '../biometrics/types.js'
import { ERRORS, type ErrorCode } from '../contract/error-codes.js'
import { SECOND_MS } from '../lib/clock.js'
import { DomainError, type ErrorDetail } from '../lib/domain-error.js'
import type {
  AssessedImage,
  BiometricProvider,
  Comparison,
  Enrolled,
  Evidence,
  Film,
  FusedReference,
  JudgedFilm,
  OperatingPoint,
  ProviderCall,
} from './biometric-provider.js'
import type { CaptureInput } from './call.js'
import type { PathOf, Pictures } from './capture/images.js'
import { faultDetail } from './capture/quality-views.js'
import { livenessStatement } from './liveness.js'

export class EngineProvider implements BiometricProvider {
  readonly model: string
  readonly passiveLiveness: string | null
  readonly takesFilms: boolean
  /** Operating points by requested rate. There are few rates, and each point is computed from the whole calibration. */
  private readonly operatingPoints = new Map<number, OperatingPoint>()

  /** @param pack the pack that decides; one of the engine's */
  constructor(
    private readonly engine: Engine,
    readonly pack: ModelPack = engine.pack,
    /** Providers of the engine's packs that have been asked for, by model id. */
    private readonly siblings = new Map<string, EngineProvider>(),
  ) {
    this.model = pack.modelId
    siblings.set(pack.modelId, this)
    const { liveness, activeLiveness } = pack.manifest
    this.passiveLiveness = liveness ? this.model : null
    this.takesFilms = activeLiveness !== undefined
  }

  /** The provider of another pack of the same engine, or null for a model that the engine has not loaded. */
  forModel(modelId: string): EngineProvider | null {
    const pack = this.engine.packs.get(modelId)
    return this.siblings.get(modelId) ?? (pack ? new EngineProvider(this.engine, pack, this.siblings) : null)
  }

  operatingPoint(asked: number): OperatingPoint {
    let point = this.operatingPoints.get(asked)
    if (!point) {
      const { pack } = this
      const { threshold, fmr, basis } = thresholdForFmr(pack, asked)
      point = { threshold, fmr, basis, grade: gradeOf(pack, asked).grade }
      this.operatingPoints.set(asked, point)
    }
    return point
  }

  /** Similarity of two embeddings, on the scale of thresholds. */
  readonly similarity = (a: Float32Array, b: Float32Array): number => scoreOf(this.pack, a, b)

  /** Whether two captures of one user are so alike that they are one capture, sent twice. */
  readonly isSameCapture = (a: Float32Array, b: Float32Array): boolean =>
    this.similarity(a, b) >= replayScore(this.pack)

  async enrol(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    { assessOnly }: { assessOnly: boolean },
  ): Promise<Enrolled> {
    const { images, field, film } = evidence
    if (film) return this.enrolByFilm(call, evidence, film)
    const enrolled = await this.engine
      .enrol(images, { ...call, assessOnly, decideBy: this.model })
      .catch((error) => translate(error, field.pathOf))
    return {
      ...enrolled,
      assessed: enrolled.samples.map((sample) => this.assess(sample)),
      liveness: this.statement(enrolled.liveness),
      photoCount: enrolled.samples.length,
    }
  }

  /** Makes the reference of the looks straight ahead, at the beginning and at the end of the film. */
  private async enrolByFilm(
    call: ProviderCall<CaptureInput>,
    pictures: Pictures,
    film: Film,
  ): Promise<Enrolled> {
    const { path, pathOf } = pictures.field
    const { fault, timingsMs, ...judged } = await this.judge(call, pictures, film)
    const liveness = this.statement(judged.liveness, { method: film.method, fault })
    if (!liveness.passed) throw livenessFailed(liveness, path)
    const [first] = judged.samples
    const last = judged.samples.at(-1)!
    const samples = first === last ? [first!] : [first!, last]
    const assessed = samples.map((sample) => this.assess(sample))
    const faults = assessed.flatMap(({ findings, imageIndex }) => faultsOf(findings, imageIndex))
    if (faults.length > 0) translate(lowQuality(faults), pathOf)
    const references = this.engine.fuse(samples, { decideBy: this.model, alsoEmbed: call.alsoEmbed })
    return { ...references, assessed, liveness, samples, photoCount: samples.length, timingsMs }
  }

  private assess({ imageIndex, quality }: Pick<FaceSample, 'imageIndex' | 'quality'>): AssessedImage {
    const bounds = this.pack.manifest.quality
    return { imageIndex, quality, findings: assessQuality(quality.components, 'enrol', bounds) }
  }

  private judge(
    call: ProviderCall<CaptureInput>,
    { images, field }: Pictures,
    film: Film,
  ): Promise<JudgedFilm> {
    return this.engine
      .series(images, { ...call, decideBy: this.model }, (frames) => film.judge(frames))
      .catch((error) => translate(error, field.pathOf))
  }

  private statement(liveness: Liveness, film?: Parameters<typeof livenessStatement>[2]) {
    return livenessStatement(liveness, this.model, film)
  }

  extend(
    { field }: Pick<Pictures, 'field'>,
    reference: FusedReference,
    { samples }: Enrolled,
    threshold: number,
  ): FusedReference {
    const stranger = samples.find(
      ({ embedding }) => this.similarity(embedding, reference.embedding) < threshold,
    )
    if (stranger)
      throw new DomainError('different_people', {
        message: 'The photo does not match the reference that it was to be added to.',
        details: [
          photoDetail(
            field.pathOf(stranger.imageIndex),
            'does not show the person who is enrolled',
            'different_people',
          ),
        ],
      })
    return this.join(reference, samples.map(weightedEmbeddingOf), samples.length)
  }

  join(reference: FusedReference, added: readonly WeightedEmbedding[], photoCount: number): FusedReference {
    const fused = fuseEmbeddings([reference, ...added], this.pack.manifest.embedder)
    return { ...fused, photoCount: reference.photoCount + photoCount }
  }

  async verify(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    reference: (() => Float32Array) | null,
    threshold: number,
  ): Promise<Comparison> {
    if (reference === null) throw new DomainError('reference_not_found')
    const { images, field, film } = evidence
    if (film) {
      const { fault, liveness, samples, timingsMs } = await this.judge(call, evidence, film)
      const [compared] = samples
      const score = compared ? this.similarity(compared.embedding, reference()) : null
      const sample = {
        assessed: compared ? this.assess(compared) : null,
        liveness: this.statement(liveness, { method: film.method, fault }),
      }
      const matches = score !== null && score >= threshold
      return { score, matches, sample, others: this.followed(call, compared), samples, timingsMs }
    }
    const result = await this.engine
      .verify(images, reference, { ...call, decideBy: this.model })
      .catch((error) => translate(error, field.pathOf))
    const sample = {
      assessed: this.assess(result.sample),
      liveness: this.statement(result.sample.liveness),
    }
    const others = this.followed(call, result.sample)
    return { ...result, sample, others, matches: result.score >= threshold }
  }

  get noFace(): Float32Array {
    const { dimensions } = this.pack.manifest.embedder
    return new Float32Array(dimensions).fill(1 / Math.sqrt(dimensions))
  }

  needsReference(): boolean {
    return true
  }

  glance(
    call: ProviderCall<unknown>,
    images: Buffer[],
    limits: FrameLimits,
    pathOf: PathOf,
  ): Promise<Glance> {
    return this.engine
      .glance(images, { ...call, limits, decideBy: this.model })
      .catch((error) => translate(error, pathOf))
  }

  /** The compared sample as the packs that follow see it. */
  private followed(
    { alsoEmbed = [] }: Pick<ProviderCall<CaptureInput>, 'alsoEmbed'>,
    sample: Pick<FaceSample, 'others' | 'quality'> | undefined,
  ): Comparison['others'] {
    const others: Comparison['others'] = {}
    for (const modelId of alsoEmbed) {
      const embedding = sample?.others?.[modelId]
      if (modelId !== this.model)
        others[modelId] = embedding ? weightedEmbeddingOf({ embedding, quality: sample.quality }) : null
    }
    return others
  }
}

function detailsOf({ code, message, imageIndex, faults, guidance }: BiometricError, pathOf: PathOf) {
  if (faults.length > 0)
    return { details: faults.map((fault) => faultDetail(pathOf(fault.imageIndex), fault)) }
  const advice = guidance ?? guidanceOfRefusal(code)
  if (imageIndex === undefined || !advice) return {}
  return { details: [photoDetail(pathOf(imageIndex), message, advice)] }
}

/**
 * The refusal of an enrollment by its liveness. It advises the person and does not say what the capture looks like.
 * @param path of the frames
 */
export function livenessFailed(
  { guidance = 'not_live' }: { guidance?: PhotoGuidance },
  path: string,
): DomainError {
  const { message } = ERRORS.liveness_failed
  return new DomainError('liveness_failed', { details: [photoDetail(path, message, guidance)] })
}

/** Seconds after which a caller that met a full queue may try again. */
const OVERLOAD_RETRY_MS = SECOND_MS

/** Turns an error of the engine into the error that a caller sees. @param pathOf names the field of a picture @throws DomainError, or the error itself where it is none of the engine's */
export function translate(error: unknown, pathOf: PathOf): never {
  if (!(error instanceof BiometricError)) throw error
  const { code, message } = error
  if (code === 'cancelled') throw error
  const busy = code === 'overloaded' || code === 'engine_unavailable'
  throw new DomainError(code satisfies ErrorCode, {
    message,
    ...detailsOf(error, pathOf),
    ...(busy ? { retryAfterMs: OVERLOAD_RETRY_MS } : {}),
    cause: error,
  })
}

/** A refused photo: its field, the fault, and the advice for the person as a code and as a sentence. */
function photoDetail(path: string, issue: string, guidance: PhotoGuidance): ErrorDetail {
  return { path, issue, guidance, hint: GUIDANCE_TEXTS[guidance] }
}
