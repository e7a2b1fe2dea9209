/** What is said of a capture's liveness: by which methods, whether that is enough, and how an approval is called by it. */
import type { ChallengeFault, ChallengeFinding } from '../biometrics/challenge/active-geometry.js'
import type { Guidance } from '../biometrics/challenge/frame-faults.js'
import { type Mode, modesOf, type Step } from '../biometrics/challenge/steps.js'
import type { Liveness } from '../biometrics/types.js'
import type { LivenessRequirement } from '../config/liveness-requirement.js'

/** Never a bare "live": what was checked is named, and what was not is absent. */
export interface LivenessStatement extends Omit<Liveness, 'guidance'> {
  /** `passive:<pack>` for the network of that pack; the method of the challenge, such as `active-geometry@1`. */
  methods: string[]
  /** What the person can do, where the challenge's movements were not seen or the network could not judge. */
  guidance?: Guidance
  /** What that looks like; not for the person. */
  findings?: ChallengeFinding[]
}

export const NOTHING_CHECKED: LivenessStatement = { checked: false, score: null, passed: null, methods: [] }

const GEOMETRY_VERSION = 1

/** How the liveness of a challenge's movements is called; null for a challenge without one. */
export function activeMethod(steps: readonly Step[]): string | null {
  const modes = modesOf(steps)
  if (modes.length === 0) return null
  return `active-${modes.length > 1 ? 'geometry' : modes[0]}@${GEOMETRY_VERSION}`
}

/** @param fault of the challenge's geometry; undefined without a challenge */
export function livenessStatement(
  passive: Liveness,
  pack: string,
  challenge?: { steps: readonly Step[]; fault: ChallengeFault | null },
): LivenessStatement {
  const active = challenge ? activeMethod(challenge.steps) : null
  const methods = [...(active ? [active] : []), ...(passive.checked ? [`passive:${pack}`] : [])]
  const fault = challenge?.fault ?? null
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

/** The strictest of several. */
export function strictest(...requirements: LivenessRequirement[]): LivenessRequirement {
  const passive = requirements.some((one) => one === 'passive' || one === 'both')
  const active = requirements.some((one) => one === 'active' || one === 'both')
  if (passive && active) return 'both'
  return passive ? 'passive' : active ? 'active' : 'none'
}

/** What is missing of a requirement; null where nothing is. */
export function missingLiveness(
  requirement: LivenessRequirement,
  offered: { passive: boolean; modes: readonly Mode[] },
): 'active' | 'passive' | null {
  if ((requirement === 'active' || requirement === 'both') && offered.modes.length === 0) return 'active'
  return (requirement === 'passive' || requirement === 'both') && !offered.passive ? 'passive' : null
}

const ACR = 'urn:countersign:acr:'

/**
 * Authentication context that an approval claims (OpenID Connect's `acr`): a name of its own for each combination of methods, and
 * for a challenge that asks for no movement.
 */
export function acrOf({ methods }: Pick<LivenessStatement, 'methods'>, isOfChallenge: boolean): string {
  const active = methods.find((method) => method.startsWith('active-'))?.replace(/@.*/, '')
  const parts = [
    'face',
    ...(active ? [active === 'active-geometry' ? 'active' : active] : isOfChallenge ? ['no-motion'] : []),
    ...(methods.some((method) => method.startsWith('passive:')) ? ['pad'] : []),
  ]
  return ACR + parts.join('-')
}
