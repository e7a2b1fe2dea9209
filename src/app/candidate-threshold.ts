/** The thresholds of a candidate false match rate, by the pack that judged the images. */
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { CandidateThreshold } from '../http/metrics/shadow-metrics.js'

/** Each threshold is computed once from the whole calibration. @param fmr the candidate, 0 to 1 */
export function candidateThreshold(
  { pack, packs }: Pick<Engine, 'pack' | 'packs'>,
  fmr: number,
): CandidateThreshold {
  const thresholds = new Map<string, number>()
  for (const [model, loaded] of packs) thresholds.set(model, thresholdForFmr(loaded, fmr).threshold)
  return (model = pack.modelId) => thresholds.get(model) ?? null
}
