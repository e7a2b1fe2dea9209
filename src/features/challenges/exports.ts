/** The part of challenges that other features may use. */
export { CHALLENGE_ERRORS, ChallengeBook, type OpenedChallenge, type Purpose } from './challenge-book.js'
export type { ChallengePart } from './challenge-part.js'
export { framesField, modesField, purposeField } from './challenge-schemas.js'
export { challengeSeconds } from './challenge-settings.js'
export { GUIDANCE_BODY_BYTES } from './endpoints/guidance.js'
export { answerIn } from './parts.js'
export { actionFor, assertVerifiable, type VerifiableParts } from './verifiable.js'
