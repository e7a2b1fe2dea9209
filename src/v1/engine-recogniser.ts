/** Production's recogniser: the biometric engine, its errors translated where they enter. */

import { replayScore, thresholdForFmr } from '../../models/pack/model-pack.js'
import { gradeOf } from '../../models/pack/pack-grade.js'
import { ApiError, type ErrorCode, retryAfter } from '../api-error.js'
import type { Engine } from '../biometrics/engine/engine.js'
import { fuseEmbeddings, scoreOf, viewOf } from '../biometrics/pipeline/match.js'
import { BiometricError } from '../biometrics/types.js'
import { type ImageInput, imagePath } from './images.js'
import { faultDetail } from './quality-views.js'
import type {
  Comparison,
  EnrolCall,
  Enrolled,
  FusedReference,
  OperatingPoint,
  Recogniser,
  RecogniserCall,
} from './recogniser.js'

export class EngineRecogniser implements Recogniser {
  readonly model: string
  readonly checksLiveness: boolean
  /** By the rate asked for: the few that the installation and its tenants have, each worked out from the whole calibration. */
  private readonly operatingPoints = new Map<number, OperatingPoint>()

  constructor(private readonly engine: Engine) {
    this.model = engine.pack.modelId
    this.checksLiveness = engine.pack.manifest.liveness !== undefined
  }

  operatingPoint(asked: number): OperatingPoint {
    let point = this.operatingPoints.get(asked)
    if (!point) {
      const { pack } = this.engine
      const { threshold, fmr, basis } = thresholdForFmr(pack, asked)
      point = { threshold, fmr, basis, grade: gradeOf(pack, asked).grade }
      this.operatingPoints.set(asked, point)
    }
    return point
  }

  /** How alike two embeddings are, on the scale of thresholds. */
  readonly similarity = (a: Float32Array, b: Float32Array): number => scoreOf(this.engine.pack, a, b)

  /** Whether two captures of one user are alike enough to be one, sent twice. */
  readonly isSameCapture = (a: Float32Array, b: Float32Array): boolean =>
    this.similarity(a, b) >= replayScore(this.engine.pack)

  enrol(call: EnrolCall): Promise<Enrolled> {
    return this.engine.enrol(call.images, call).catch((error) => translate(error, call.input))
  }

  extend(
    { input }: Pick<RecogniserCall, 'input'>,
    reference: FusedReference,
    { samples }: Enrolled,
    threshold: number,
  ): FusedReference {
    const stranger = samples.find(
      ({ embedding }) => this.similarity(embedding, reference.embedding) < threshold,
    )
    if (stranger)
      throw new ApiError('different_people', {
        message: 'The photo does not match the reference that it was to be added to.',
        details: [
          { path: imagePath(input, stranger.imageIndex), issue: 'does not show the person who is enrolled' },
        ],
      })
    const { embedder } = this.engine.pack.manifest
    const fused = fuseEmbeddings([reference, ...samples.map(viewOf)], embedder)
    return { ...fused, views: reference.views + samples.length }
  }

  async verify(call: RecogniserCall, reference: Float32Array | null, threshold: number): Promise<Comparison> {
    if (reference === null) throw new ApiError('reference_not_found')
    const result = await this.engine
      .verify(call.images, reference, call)
      .catch((error) => translate(error, call.input))
    return { ...result, matches: result.score >= threshold }
  }
}

function detailsOf({ message, imageIndex, faults }: BiometricError, input: ImageInput) {
  if (faults.length > 0)
    return { details: faults.map((fault) => faultDetail(imagePath(input, fault.imageIndex), fault)) }
  return imageIndex === undefined ? {} : { details: [{ path: imagePath(input, imageIndex), issue: message }] }
}

/** Seconds after which a caller that met a full queue may try again. */
const OVERLOAD_RETRY_SECONDS = 1

/** @throws ApiError always */
export function translate(error: unknown, input: ImageInput): never {
  if (!(error instanceof BiometricError)) throw error
  const { code, message } = error
  if (code === 'cancelled') throw error
  const busy = code === 'overloaded' || code === 'engine_unavailable'
  throw new ApiError(code satisfies ErrorCode, {
    message,
    ...detailsOf(error, input),
    ...(busy ? { headers: retryAfter(OVERLOAD_RETRY_SECONDS) } : {}),
    cause: error,
  })
}
