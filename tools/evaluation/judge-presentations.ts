/** Runs every presentation through the engine, as the service would. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Guidance } from '../../clients/capture/guidance-codes.js'
import { type ModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { IMAGE_ERROR_CODES } from '../../src/biometrics/biometric-error.js'
import { Engine } from '../../src/biometrics/engine/engine.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { BiometricError, type EngineOptions } from '../../src/biometrics/types.js'
import { judgeFilm } from '../../src/features/challenges/film/exports.js'
import type { EmbedProgress } from './embed-photos.js'
import { anyone, forEachBusily } from './engine-work.js'
import { type PadData, PadDataError, type Presentation } from './pad-data.js'

/** Result of the liveness check for a presentation. */
export interface Judgement {
  /** `none`: no picture could be judged, so the person would be asked for others. */
  response: 'bona_fide' | 'attack' | 'none'
  /** Score of the liveness network; null if it gave none. */
  score: number | null
  /** Whether the presentation would match its reference; null without a reference or a comparison. */
  matches: boolean | null
  /** Reason for the missing response, or the finding of the challenge; else null. */
  reason: string | null
}

/**
 * @param fmr the false match rate that decides whether a presentation passes for its reference's person
 * @returns one a presentation, in their order
 * @throws PadDataError no_liveness, no_challenges, reference_unusable; what the operating system says of a file
 */
export async function judgePresentations(
  data: PadData,
  options: EngineOptions,
  fmr: number,
  onProgress: EmbedProgress,
): Promise<{ pack: ModelPack; judgements: Judgement[] }> {
  const engine = await Engine.start(options)
  const { presentations } = data
  const judgements = new Array<Judgement>(presentations.length)
  let done = 0
  try {
    assertCanJudge(engine.pack, presentations)
    const judge = new PresentationJudge(engine, data.folder, thresholdForFmr(engine.pack, fmr).threshold)
    await forEachBusily(presentations, options, async (presentation, index) => {
      judgements[index] = await judge.judge(presentation)
      onProgress(++done, presentations.length, presentation.id)
    })
    return { pack: engine.pack, judgements }
  } finally {
    await engine.close()
  }
}

function assertCanJudge({ manifest, modelId }: ModelPack, presentations: readonly Presentation[]): void {
  const still = presentations.find(({ challenge }) => challenge === null)
  if (still && !manifest.liveness)
    throw new PadDataError(
      'no_liveness',
      `Presentation ${still.id} cannot be judged: ${modelId} has no liveness network, and the row has no challenge. Name another pack with --pack, or give each presentation its challenge.`,
    )
  const moved = presentations.find(({ challenge }) => challenge !== null)
  if (moved && !manifest.activeLiveness)
    throw new PadDataError(
      'no_challenges',
      `${modelId} takes no challenge, and presentation ${moved.id} has one. Name another pack with --pack.`,
    )
}

class PresentationJudge {
  private readonly references = new Map<string, Promise<Float32Array>>()

  constructor(
    private readonly engine: Engine,
    private readonly folder: string,
    private readonly threshold: number,
  ) {}

  async judge(presentation: Presentation): Promise<Judgement> {
    const { reference, challenge } = presentation
    const claimed = reference === null ? null : await this.referenceOf(reference)
    const frames = await Promise.all(presentation.frames.map((frame) => this.read(frame)))
    try {
      return await (challenge
        ? this.byChallenge(frames, challenge, claimed)
        : this.byNetwork(frames, claimed))
    } catch (error) {
      if (!(error instanceof BiometricError) || !PICTURES_TO_BLAME.has(error.code)) throw error
      return { response: 'none', score: null, matches: null, reason: error.code }
    }
  }

  private async byNetwork(frames: Buffer[], claimed: Float32Array | null): Promise<Judgement> {
    const { sample, score } = await this.engine.verify(frames, claimed ?? anyone(this.engine))
    const { liveness } = sample
    const { guidance, passed } = liveness
    return {
      response: guidance ? 'none' : passed ? 'bona_fide' : 'attack',
      score: liveness.score,
      matches: claimed && score >= this.threshold,
      reason: guidance ?? null,
    }
  }

  private async byChallenge(
    frames: Buffer[],
    challenge: NonNullable<Presentation['challenge']>,
    claimed: Float32Array | null,
  ): Promise<Judgement> {
    const { fault, liveness, samples } = await this.engine.series(frames, {}, (series) =>
      judgeFilm(series, challenge),
    )
    const [compared] = samples
    const { guidance = liveness.guidance, finding } = fault ?? {}
    const isUnusable = guidance !== undefined && !finding && UNUSABLE.has(guidance)
    const passed = fault === null && liveness.passed !== false
    return {
      response: isUnusable ? 'none' : passed ? 'bona_fide' : 'attack',
      score: liveness.score,
      matches:
        claimed && compared ? scoreOf(this.engine.pack, compared.embedding, claimed) >= this.threshold : null,
      reason: finding ?? guidance ?? null,
    }
  }

  /** Embedding of a reference photo; each photo is read once, however many presentations name it. */
  private referenceOf(file: string): Promise<Float32Array> {
    const known = this.references.get(file) ?? this.embed(file)
    this.references.set(file, known)
    return known
  }

  private async embed(file: string): Promise<Float32Array> {
    const bytes = await this.read(file)
    try {
      return (await this.engine.verify([bytes], anyone(this.engine))).sample.embedding
    } catch (error) {
      if (!(error instanceof BiometricError)) throw error
      throw new PadDataError('reference_unusable', `The reference ${file} cannot be used: ${error.message}`)
    }
  }

  private read(file: string): Promise<Buffer> {
    return readFile(resolve(this.folder, file))
  }
}

/** Error codes that say nothing about a presentation. */
const PICTURES_TO_BLAME: ReadonlySet<string> = new Set([...IMAGE_ERROR_CODES, 'different_people'])

/** Guidance on a challenge's frames that show nothing to judge; all other guidance is a response to their content. */
const UNUSABLE: ReadonlySet<Guidance> = new Set([
  'no_face',
  'several_faces',
  'too_far',
  'too_close',
  'cut_off',
  'too_dark',
  'too_bright',
  'blurred',
])
