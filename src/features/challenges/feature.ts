/** Challenges: movements for a person in front of the camera, whose frames a verify or an enrollment takes instead of photos. */
import type { Feature } from '../feature.js'
import { createChallenge, createChallengeDescription } from './endpoints/create-challenge.js'
import { guide, guideDescription } from './endpoints/guidance.js'
import { capturePart, enrollPart, verifyPart } from './parts.js'

/** The parts that the features of a service add to challenges. */
const partsIn = (features: readonly Feature[]) => features.flatMap(({ parts }) => parts?.challenge ?? [])

export const challenges: Feature = {
  descriptions: (features) => [createChallengeDescription(partsIn(features)), guideDescription],
  parts: { capture: capturePart, verify: verifyPart, enroll: enrollPart },
  attach: ({ features }) => ({
    endpoints: (services) => [createChallenge(services, partsIn(features)), guide(services)],
  }),
}
