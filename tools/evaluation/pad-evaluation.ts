/** Evaluates presentation attack detection on a table of presentations. */
import type { EngineOptions } from '../../src/biometrics/types.js'
import type { EmbedProgress } from './embed-photos.js'
import { judgePresentations } from './judge-presentations.js'
import { readPresentations } from './pad-data.js'
import { type JudgedPresentation, type PadRates, padRates } from './pad-rates.js'

export interface PadOrder {
  /** The table's contents. */
  text: string
  /** Path of the table, to which its pictures are relative. */
  file: string
  engine: EngineOptions
  /** False match rate that the service is configured for. */
  fmr: number
  onProgress: EmbedProgress
}

export interface PadEvaluation extends PadRates {
  model: string
  data: string
  date: string
  fmr: number
  /** Lowest score at which the liveness network accepts a presentation as bona fide; null without a network. */
  liveness_threshold: number | null
  attacks: number
  presentations: JudgedPresentation[]
}

/** @throws PadDataError; ModelPackError; what the operating system says of a file that cannot be read */
export async function evaluatePad({ text, file, engine, fmr, onProgress }: PadOrder): Promise<PadEvaluation> {
  const data = readPresentations(text, file)
  const { pack, judgements } = await judgePresentations(data, engine, fmr, onProgress)
  const presentations = data.presentations.map((presentation, i) => ({ ...presentation, ...judgements[i]! }))
  return {
    model: pack.modelId,
    data: data.name,
    date: new Date().toISOString().slice(0, 10),
    fmr,
    liveness_threshold: pack.manifest.liveness?.threshold ?? null,
    attacks: presentations.filter(({ species }) => species !== null).length,
    ...padRates(presentations),
    presentations,
  }
}
