/** The setting and the table of challenges, which are known without loading them. */
import type { OwnParts } from '../feature.js'
import { CHALLENGE_SETTINGS } from './challenge-settings.js'
import { CHALLENGE } from './table/exports.js'

export const CHALLENGES: OwnParts = { settings: CHALLENGE_SETTINGS, tables: [CHALLENGE] }
