/** References that learn from verifications: they follow a change of the model pack, or age with the face. Without this feature they stay as enrolled. */
import type { Feature } from '../feature.js'
import { verifyPart } from './verify-part.js'

export const learningReferences: Feature = { parts: { verify: verifyPart } }
