/** The sandbox's biometric provider. The caller chooses each outcome by the end of the user id; no model runs. */
import { createHash } from 'node:crypto'
import type { Engine } from '../../biometrics/engine/engine.js'
import type { QualityComponents } from '../../biometrics/measurements.js'
import { faultsOf } from '../../biometrics/pipeline/judge/component-finding.js'
import { assessQuality, lowQuality, type Purpose } from '../../biometrics/pipeline/judge/quality-bounds.js'
import {
  BiometricError,
  type BiometricErrorCode,
  type FrameLimits,
  type Quality,
} from '../../biometrics/types.js'
import { ERRORS } from '../../contract/error-codes.js'
import {
  CHALLENGE_PHOTOS,
  POOR_SHARPNESS,
  refusedPhoto,
  SANDBOX_MODEL,
  sandboxOutcome,
  sandboxRule,
  scriptedLiveness,
} from '../../contract/sandbox-rules.js'
import type { Clock } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import type {
  AssessedImage,
  BiometricProvider,
  Comparison,
  Enrolled,
  Evidence,
  FusedReference,
  OperatingPoint,
  ProviderCall,
} from '../biometric-provider.js'
import type { CaptureInput } from '../call.js'
import type { PathOf, Pictures } from '../capture/images.js'
import { type EngineProvider, livenessFailed, translate } from '../engine-provider.js'
import { livenessStatement } from '../liveness.js'
import { refuseScripted, waitAsScripted } from './sandbox-outcomes.js'

/** Embedding of every sandbox user: no model makes one. */
const NO_EMBEDDING = new Float32Array(0)

export class SandboxProvider implements BiometricProvider {
  /** A fixed name, so that references of the sandbox outlive a change of the model pack. */
  readonly model = SANDBOX_MODEL
  readonly pack = null
  readonly takesFilms = true

  constructor(
    private readonly engine: Pick<Engine, 'inspect'>,
    private readonly production: Pick<EngineProvider, 'operatingPoint' | 'passiveLiveness'>,
    private readonly clock: Clock,
  ) {}

  get passiveLiveness(): string | null {
    return this.production.passiveLiveness
  }

  operatingPoint(fmr: number): OperatingPoint {
    return this.production.operatingPoint(fmr)
  }

  readonly noFace = NO_EMBEDDING

  needsReference(userId: string): boolean {
    return sandboxOutcome(userId) === null
  }

  async enrol(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    { assessOnly }: { assessOnly: boolean },
  ): Promise<Enrolled> {
    const { timingsMs, liveness } = await this.screen(call, evidence)
    const { user_id: userId } = call.input
    const { field, film } = evidence
    if (!assessOnly && !film) refusePoorImage(userId, 'enrol', field.pathOf)
    if (liveness.passed === false) {
      if (film) throw livenessFailed(liveness, field.path)
      refuseImage('liveness_failed', evidence)
    }
    const photoCount = film ? CHALLENGE_PHOTOS : evidence.images.length
    return {
      reference: NO_EMBEDDING,
      weight: photoCount,
      photoCount,
      others: {},
      samples: [],
      assessed: Array.from({ length: photoCount }, (_, index) => assessSynthetic(userId, index)),
      liveness,
      timingsMs,
    }
  }

  forModel(): this {
    return this
  }

  similarity(): number {
    return 0
  }

  join(reference: FusedReference, _added: unknown, photoCount: number): FusedReference {
    return { ...reference, photoCount: reference.photoCount + photoCount }
  }

  extend(_call: unknown, reference: FusedReference, added: Enrolled): FusedReference {
    return { ...reference, photoCount: reference.photoCount + added.photoCount }
  }

  async verify(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
    reference: (() => Float32Array) | null,
    threshold: number,
  ): Promise<Comparison> {
    const { user_id: userId } = call.input
    const outcome = sandboxOutcome(userId)
    if (reference === null && this.needsReference(userId)) throw new DomainError('reference_not_found')
    const { timingsMs, liveness } = await this.screen(call, evidence)
    if (!evidence.film) refusePoorImage(userId, 'verify', evidence.field.pathOf)
    const matches = outcome !== '+no_match'
    // The score lies about half-way between the threshold and the end of the scale, a little different for each user.
    const margin = (1 - threshold) * (0.4 + 0.2 * fraction(userId, 'score'))
    return {
      matches,
      score: liveness.guidance ? null : matches ? threshold + margin : threshold - margin,
      sample: { assessed: assessSynthetic(userId, 0), liveness },
      others: {},
      samples: [],
      timingsMs,
    }
  }

  async glance(
    call: ProviderCall<{ user_id?: string }>,
    images: Buffer[],
    { maxPixels }: FrameLimits,
    pathOf: PathOf,
  ): Promise<null> {
    refuseScripted(call.input.user_id ?? '')
    await this.engine.inspect(images, { ...call, maxPixels }).catch((error) => translate(error, pathOf))
    return null
  }

  /**
   * Refuses what the user id asks for, then what production would refuse without looking for a face.
   * @returns the liveness statement that the production pack of this installation would make about a live face
   */
  private async screen(
    call: ProviderCall<CaptureInput>,
    evidence: Evidence,
  ): Promise<Pick<Enrolled, 'timingsMs' | 'liveness'>> {
    const { images, field, film } = evidence
    const { user_id: userId } = call.input
    refuseScripted(userId)
    const fault = film?.script(userId) ?? null
    await waitAsScripted(userId, this.clock, call.signal)
    const { timingsMs } = await this.engine
      .inspect(images, { ...call, areFrames: film !== null })
      .catch((error) => translate(error, field.pathOf))
    const { refusal } = sandboxRule(userId)
    if (refusal && !film) refuseImage(refusal, evidence)
    const passive = scriptedLiveness(userId, this.passiveLiveness !== null)
    const judged = film && { method: film.method, fault }
    return { timingsMs, liveness: livenessStatement(passive, this.passiveLiveness ?? this.model, judged) }
  }
}

/** Refuses the first image for its quality, where the user id asks for that. @throws DomainError low_quality */
function refusePoorImage(userId: string, purpose: Purpose, pathOf: PathOf): void {
  const faults = faultsOf(assessQuality(syntheticComponents(userId, 0), purpose), 0)
  if (faults.length > 0) translate(lowQuality(faults), pathOf)
}

/** Refuses an image as production would: the first one, or the last one for people who differ. */
function refuseImage(code: keyof typeof ERRORS & BiometricErrorCode, { images, field }: Pictures): never {
  translate(new BiometricError(code, ERRORS[code].message, refusedPhoto(code, images.length)), field.pathOf)
}

function assessSynthetic(userId: string, imageIndex: number): AssessedImage {
  const quality = syntheticQuality(userId, imageIndex)
  return { imageIndex, quality, findings: assessQuality(quality.components, 'enrol') }
}

function syntheticQuality(userId: string, imageIndex: number): Quality {
  const vary = (low: number, high: number, what: string) => low + (high - low) * fraction(userId, what)
  return {
    score: vary(0.8, 0.95, 'quality'),
    faceWidthPx: Math.round(vary(180, 320, 'width')),
    detection: vary(0.9, 0.99, 'detection'),
    sharpness: vary(200, 800, 'sharpness'),
    brightness: vary(100, 150, 'brightness'),
    contrast: vary(40, 60, 'contrast'),
    components: syntheticComponents(userId, imageIndex),
  }
}

/** Quality components that pass every bound, except for the first image of a `+low_quality` user, which is blurred. */
function syntheticComponents(userId: string, image: number): QualityComponents {
  const vary = (low: number, high: number, what: string) =>
    low + (high - low) * fraction(userId, String(image), what)
  const isPoor = image === 0 && sandboxOutcome(userId) === '+low_quality'
  return {
    inter_eye_distance: vary(80, 140, 'eyes'),
    sharpness: isPoor ? POOR_SHARPNESS : vary(200, 800, 'sharpness'),
    luminance_mean: vary(110, 150, 'luminance'),
    luminance_variance: vary(1_200, 2_000, 'variance'),
    under_exposure_prevention: vary(0.97, 1, 'dark'),
    over_exposure_prevention: vary(0.98, 1, 'bright'),
    illumination_uniformity: vary(0.85, 1, 'evenness'),
    head_pose_yaw: vary(-8, 8, 'yaw'),
    head_pose_pitch: vary(-8, 8, 'pitch'),
    head_pose_roll: vary(-4, 4, 'roll'),
    eyes_open: vary(0.26, 0.32, 'eyelids'),
  }
}

/** Pseudo-random number from 0 to 1, always the same for the same words. */
function fraction(...words: string[]): number {
  return createHash('sha256').update(words.join('\0')).digest().readUInt16BE() / 0xffff
}
