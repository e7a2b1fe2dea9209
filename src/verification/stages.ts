/** Timed stages of a request, in the order in which it passes through them. */
import { ENGINE_STAGES } from '../biometrics/stages.js'

export const STAGES = ['auth', ...ENGINE_STAGES, 'store', 'sign'] as const
export type Stage = (typeof STAGES)[number]

/** Milliseconds by stage. */
export type Timings = Partial<Record<Stage, number>>
