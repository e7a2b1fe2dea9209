/** Statement about a capture's liveness: the methods that checked it, what a policy still misses, and the `acr` of an approval. */

import type { Guidance } from '../../clients/capture/guidance-codes.js'
import type { Liveness } from '../biometrics/types.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'
import type { CaptureFault } from '../contract/capture-fault.js'
import type { LivenessFinding } from '../contract/wire-types.js'

/** Statement that names the checks that were made and leaves out those that were not, instead of a bare "live". */
export interface LivenessStatement extends Omit<Liveness, 'guidance'> {
  /** `passive:<pack>` for the network of that pack; the method of a film, such as `active-geometry@1`. */
  methods: string[]
  /** Advice for the person, where the movements were not seen or the network could not judge. */
  guidance?: Guidance
  /** Findings that describe a failed capture: for the backend, not for the person. */
  findings?: LivenessFinding[]
}

export const NOTHING_CHECKED: LivenessStatement = { checked: false, score: null, passed: null, methods: [] }

/**
 * Makes the statement about a capture.
 * @param passive result of the liveness network
 * @param pack model pack of the network
 * @param film the method of the movements, null for none, and the fault of the frames, if any; null for photos
 */
export function livenessStatement(
  passive: Liveness,
  pack: string,
  film: { method: string | null; fault: CaptureFault | null } | null = null,
): LivenessStatement {
  const methods = [...(film?.method ? [film.method] : []), ...(passive.checked ? [`passive:${pack}`] : [])]
  const fault = film?.fault ?? null
  const guidance = fault?.guidance ?? passive.guidance
  const passed = fault === null && passive.passed !== false
  return {
    checked: methods.length > 0,
    score: passive.score,
    passed: methods.length > 0 || fault ? passed : null,
    methods,
    ...(guidance ? { guidance } : {}),
    ...(fault?.finding ? { findings: [fault.finding] } : {}),
  }
}

/** Whether one of the requirements demands this check. */
const demands = (check: 'active' | 'passive', ...requirements: LivenessRequirement[]) =>
  requirements.some((one) => one === check || one === 'both')

/** The requirement that demands everything that any of these demands. */
export function strictest(...requirements: LivenessRequirement[]): LivenessRequirement {
  const passive = demands('passive', ...requirements)
  if (demands('active', ...requirements)) return passive ? 'both' : 'active'
  return passive ? 'passive' : 'none'
}

/** The check that a requirement demands and that is not offered; null where every demanded check is offered. */
export function missingLiveness(
  requirement: LivenessRequirement,
  offered: { passive: boolean; active: boolean },
): 'active' | 'passive' | null {
  if (demands('active', requirement) && !offered.active) return 'active'
  return demands('passive', requirement) && !offered.passive ? 'passive' : null
}
