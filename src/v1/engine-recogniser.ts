/** Production's recogniser: the biometric engine, its errors translated where they enter. */

import { replayScore, thresholdForFmr } from '../../models/pack/model-pack.js'
import { gradeOf } from '../../models/pack/pack-grade.js'
import { ApiError, type ErrorCode, retryAfter } from '../api-error.js'
import type { Engine } from '../biometrics/engine/engine.js'
import { fuseEmbeddings, scoreOf, viewOf } from '../biometrics/pipeline/match.js'
import { BiometricError } from '../biometrics/types.js'
import { type ImageInput, imagePath } from './images.js'
import type {
  Comparison,
  Enrolled,
  FusedReference,
  OperatingPoint,
  Recogniser,
  RecogniserCall,
} from './recogniser.js'

export class EngineRecogniser implements Recogniser {
  readonly model: string
  readonly checksLiveness: boolean

  constructor(private readonly engine: Engine) {
    this.model = engine.pack.modelId
    this.checksLiveness = engine.pack.manifest.liveness !== undefined
  }

  operatingPoint(asked: number): OperatingPoint {
    const { pack } = this.engine
    const { threshold, fmr, basis } = thresholdForFmr(pack, asked)
    return { threshold, fmr, basis, grade: gradeOf(pack, asked).grade }
  }

  /** How alike two embeddings are, on the scale of thresholds. */
  readonly similarity = (a: Float32Array, b: Float32Array): number => scoreOf(this.engine.pack, a, b)

  /** Whether two captures of one user are alike enough to be one, sent twice. */
  readonly isSameCapture = (a: Float32Array, b: Float32Array): boolean =>
    this.similarity(a, b) >= replayScore(this.engine.pack)

  enrol(call: RecogniserCall): Promise<Enrolled> {
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

/** Seconds after which a caller that met a full queue may try again. */
const OVERLOAD_RETRY_SECONDS = 1

/** @throws ApiError always */
export function translate(error: unknown, input: ImageInput): never {
  if (!(error instanceof BiometricError)) throw error
  const { code, message, imageIndex } = error
  if (code === 'cancelled') throw error
  const busy = code === 'overloaded' || code === 'engine_unavailable'
  throw new ApiError(code satisfies ErrorCode, {
    message,
    ...(imageIndex === undefined
      ? {}
      : { details: [{ path: imagePath(input, imageIndex), issue: message }] }),
    ...(busy ? { headers: retryAfter(OVERLOAD_RETRY_SECONDS) } : {}),
    cause: error,
  })
}
