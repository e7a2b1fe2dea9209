/** Evidence: judges an installation by standards, by a command. It adds nothing to a service. */
import type { Feature } from '../feature.js'

export const evidence: Feature = {}
