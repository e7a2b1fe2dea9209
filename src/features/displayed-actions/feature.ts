/**
 * Displayed actions: actions with a published schema, whose text a page shows and a verdict names. Without this feature they are signed like
 * any other, by their canonical form.
 */
import type { Feature } from '../feature.js'
import { challengePart, lookupPart, verifyPart } from './parts.js'

export const displayedActions: Feature = {
  parts: { verify: verifyPart, challenge: challengePart, lookup: lookupPart },
}
