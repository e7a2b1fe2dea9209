/** The sandbox's recogniser: deterministic outcomes that the caller chooses by the end of the user id. No model runs. */
import { createHash } from 'node:crypto'
import { ApiError, ERRORS, type ErrorCode, retryAfter } from '../api-error.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Liveness, Quality } from '../biometrics/types.js'
import { translate } from './engine-recogniser.js'
import { type ImageInput, imagePath } from './images.js'
import type { Comparison, Enrolled, Recogniser, RecogniserCall } from './recogniser.js'
import type { Timings } from './stages.js'

/** What a `user_id` may end in, and what it brings about. */
export const SANDBOX_OUTCOMES = {
  '+match': 'verify approves',
  '+no_match': 'verify rejects with reason no_match',
  '+spoof': 'enroll gets liveness_failed, verify rejects with reason liveness_failed',
  '+low_quality': 'low_quality',
  '+no_face': 'face_not_found',
  '+multiple_faces': 'multiple_faces',
  '+rate_limited': 'rate_limited, on every endpoint that takes a user',
  '+unavailable': 'overloaded, on every endpoint that takes a user',
} as const

type Suffix = keyof typeof SANDBOX_OUTCOMES

export function sandboxSuffix(userId: string): Suffix | null {
  const suffixes = Object.keys(SANDBOX_OUTCOMES) as Suffix[]
  return suffixes.find((suffix) => userId.endsWith(suffix)) ?? null
}

const IMAGE_ERRORS = {
  '+low_quality': 'low_quality',
  '+no_face': 'face_not_found',
  '+multiple_faces': 'multiple_faces',
} as const

export class SandboxRecogniser implements Recogniser {
  /** References of the sandbox outlive a change of the model pack. */
  readonly model = 'sandbox@1'
  readonly checksLiveness = true
  readonly synthetic = true

  constructor(
    private readonly engine: Pick<Engine, 'inspect'>,
    private readonly production: Pick<Recogniser, 'threshold'>,
  ) {}

  threshold(fmr: number): number {
    return this.production.threshold(fmr)
  }

  similarity(): number {
    return 0
  }

  isScripted(userId: string): boolean {
    return sandboxSuffix(userId) !== null
  }

  async enrol(userId: string, images: Buffer[], call: RecogniserCall): Promise<Enrolled> {
    const timings = await this.screen(userId, images, call)
    if (sandboxSuffix(userId) === '+spoof') refuseImage('liveness_failed', call.input)
    return {
      embedding: new Float32Array(0),
      samples: [],
      quality: syntheticQuality(userId),
      liveness: syntheticLiveness(true),
      timings,
    }
  }

  async verify(
    userId: string,
    images: Buffer[],
    _reference: Float32Array,
    fmr: number,
    call: RecogniserCall,
  ): Promise<Comparison> {
    const timings = await this.screen(userId, images, call)
    const suffix = sandboxSuffix(userId)
    // Half-way between the threshold and the end of the scale, moved a little so that users differ.
    const threshold = this.threshold(fmr)
    const margin = (1 - threshold) * (0.4 + 0.2 * fraction(userId, 'score'))
    const score = suffix === '+no_match' ? threshold - margin : threshold + margin
    return {
      score,
      embedding: new Float32Array(0),
      quality: syntheticQuality(userId),
      liveness: syntheticLiveness(suffix !== '+spoof'),
      timings,
    }
  }

  /** Refuses what the caller asked to have refused, then what production would refuse without looking for a face. */
  private async screen(userId: string, images: Buffer[], call: RecogniserCall): Promise<Timings> {
    refuseScripted(userId)
    const { timingsMs } = await this.engine
      .inspect(images, call)
      .catch((error) => translate(error, call.input))
    const suffix = sandboxSuffix(userId)
    if (suffix !== null && suffix in IMAGE_ERRORS)
      refuseImage(IMAGE_ERRORS[suffix as keyof typeof IMAGE_ERRORS], call.input)
    return timingsMs
  }
}

/** As production does: the first image is to blame. @throws ApiError always */
function refuseImage(code: ErrorCode, input: ImageInput): never {
  throw new ApiError(code, { details: [{ path: imagePath(input, 0), issue: ERRORS[code].message }] })
}

/** The outcomes that do not depend on an image. @throws ApiError rate_limited, overloaded */
export function refuseScripted(userId: string): void {
  const suffix = sandboxSuffix(userId)
  if (suffix === '+rate_limited') throw new ApiError('rate_limited', { headers: retryAfter(1) })
  if (suffix === '+unavailable') throw new ApiError('overloaded', { headers: retryAfter(1) })
}

function syntheticLiveness(live: boolean): Liveness {
  return { checked: true, score: live ? 0.99 : 0.02, passed: live }
}

function syntheticQuality(userId: string): Quality {
  const vary = (low: number, high: number, what: string) => low + (high - low) * fraction(userId, what)
  return {
    score: vary(0.8, 0.95, 'quality'),
    faceWidthPx: Math.round(vary(180, 320, 'width')),
    detection: vary(0.9, 0.99, 'detection'),
    sharpness: vary(200, 800, 'sharpness'),
    brightness: vary(100, 150, 'brightness'),
    contrast: vary(40, 60, 'contrast'),
  }
}

/** 0..1, the same for the same words every time. */
function fraction(...words: string[]): number {
  return createHash('sha256').update(words.join('\0')).digest().readUInt16BE() / 0xffff
}
