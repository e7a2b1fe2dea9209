/** Refuses a false match rate that the service's model pack does not reach. */
import { assertFmrReached, PackGradeError } from '../../../models/pack/pack-grade.js'
import type { Engine } from '../../biometrics/engine/engine.js'
import type { Config } from '../../config/config.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'

/** @throws PackGradeError fmr_not_reached */
export function assertReached(
  { engine, config }: { engine: Pick<Engine, 'pack'>; config: Pick<Config, 'acceptPacks'> },
  fmr: number,
): void {
  const problem = falseMatchRateProblem(fmr, 'The false match rate')
  if (problem) throw new PackGradeError('fmr_not_reached', problem)
  assertFmrReached(engine.pack, fmr, 'The contract', config.acceptPacks)
}
