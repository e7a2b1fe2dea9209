/** Steps of a challenge: poses, in an order and with directions that nobody can predict. */

/** `left` and `right` are the person's own. */
export const STEPS = ['frontal', 'turn_left', 'turn_right', 'nod_up', 'nod_down'] as const
export type Step = (typeof STEPS)[number]
export type Movement = Exclude<Step, 'frontal'>

/** Axes about which a person can move the head. */
export const MODES = ['turn', 'nod'] as const
export type Mode = (typeof MODES)[number]

const MOVEMENTS: Record<Mode, readonly [Movement, Movement]> = {
  turn: ['turn_left', 'turn_right'],
  nod: ['nod_up', 'nod_down'],
}

export function modeOf(movement: Movement): Mode {
  return MOVEMENTS.turn.includes(movement) ? 'turn' : 'nod'
}

/** The distinct axes of the challenge's movements. */
export function modesOf(steps: readonly Step[]): Mode[] {
  return MODES.filter((mode) => MOVEMENTS[mode].some((movement) => steps.includes(movement)))
}

const GEOMETRY_VERSION = 1

/** Name of the liveness method that movements about these axes are; null without a movement. */
export function activeMethodOf(modes: readonly Mode[]): string | null {
  if (modes.length === 0) return null
  return `active-${modes.length > 1 ? 'geometry' : modes[0]}@${GEOMETRY_VERSION}`
}

/**
 * Draws a challenge: both axes in either order (or the only axis twice), random directions, a third movement in half
 * of the cases, and a frontal look before and after. Without a mode the challenge is one frontal look.
 * @param draw a secure random integer, 0 to `below` - 1
 */
export function drawSteps(modes: readonly Mode[], draw: (below: number) => number): Step[] {
  const [first, second = first] = modes
  if (!first || !second) return ['frontal']
  const axes = draw(2) === 0 ? [first, second] : [second, first]
  if (draw(2) === 0) axes.push(modes[draw(modes.length)]!)
  return ['frontal', ...axes.map((axis) => MOVEMENTS[axis][draw(2)]!), 'frontal']
}

const REVERSED: Partial<Record<Step, Step>> = { turn_left: 'turn_right', turn_right: 'turn_left' }

/** The steps with left and right exchanged, as a camera that mirrors shows them. */
export function reversedTurns(steps: readonly Step[]): Step[] {
  return steps.map((step) => REVERSED[step] ?? step)
}
