/** Statement about a capture's liveness: the methods that checked it, what a policy still misses, and the `acr` of an approval. */

import type { Guidance } from '../../clients/capture/guidance-codes.js'
import type { ChallengeFault } from '../biometrics/challenge/active-geometry.js'
import type { ChallengeFinding } from '../biometrics/challenge/findings.js'
import { type Mode, modesOf, type Step } from '../biometrics/challenge/steps.js'
import type { Liveness } from '../biometrics/types.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'

/** Statement that names the checks that were made and leaves out those that were not, instead of a bare "live". */
export interface LivenessStatement extends Omit<Liveness, 'guidance'> {
  /** `passive:<pack>` for the network of that pack; the method of a film, such as `active-geometry@1`. */
  methods: string[]
  /** Advice for the person, where the movements were not seen or the network could not judge. */
  guidance?: Guidance
  /** Findings that describe a failed capture: for the backend, not for the person. */
  findings?: ChallengeFinding[]
}

export const NOTHING_CHECKED: LivenessStatement = { checked: false, score: null, passed: null, methods: [] }

const GEOMETRY_VERSION = 1

/** Name of the method that the movements of a film are; null for a film without movements. */
export function activeMethod(steps: readonly Step[]): string | null {
  return activeMethodOf(modesOf(steps))
}

/** The same name, by the distinct axes of the movements. */
export function activeMethodOf(modes: readonly Mode[]): string | null {
  if (modes.length === 0) return null
  return `active-${modes.length > 1 ? 'geometry' : modes[0]}@${GEOMETRY_VERSION}`
}

/**
 * Makes the statement about a capture.
 * @param passive result of the liveness network
 * @param pack model pack of the network
 * @param film movements that were asked for and the fault of the frames, if any; undefined for photos
 */
export function livenessStatement(
  passive: Liveness,
  pack: string,
  film?: { steps: readonly Step[]; fault: ChallengeFault | null },
): LivenessStatement {
  const active = film ? activeMethod(film.steps) : null
  const methods = [...(active ? [active] : []), ...(passive.checked ? [`passive:${pack}`] : [])]
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

/** The requirement that demands everything that any of these demands. */
export function strictest(...requirements: LivenessRequirement[]): LivenessRequirement {
  const passive = requirements.some((one) => one === 'passive' || one === 'both')
  const active = requirements.some((one) => one === 'active' || one === 'both')
  if (passive && active) return 'both'
  return passive ? 'passive' : active ? 'active' : 'none'
}

/** The check that a requirement demands and that is not offered; null where every demanded check is offered. */
export function missingLiveness(
  requirement: LivenessRequirement,
  offered: { passive: boolean; modes: readonly Mode[] },
): 'active' | 'passive' | null {
  if ((requirement === 'active' || requirement === 'both') && offered.modes.length === 0) return 'active'
  return (requirement === 'passive' || requirement === 'both') && !offered.passive ? 'passive' : null
}
