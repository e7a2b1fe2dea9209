/** Steps and their judgement, for features and tools that need nothing else of challenges. */
export type { FrameNote } from './active-geometry.js'
export { judgeFilm } from './judge-film.js'
export { activeMethodOf, MODES, type Mode, modesOf, STEPS, type Step } from './steps.js'
