/** The hash by which a verdict names the text that a person was shown. */

import { sha256Hex } from '../../src/contract/action-hash.js'
import { type ActionDisplay, canonicalDisplay } from '../../src/contract/actions/display-action.js'

/**
 * @returns SHA-256 of the text in RFC 8785 canonical form, in lower-case hex: the `display_hash` of a verdict of the hosted page
 * @example
 * const display = displayAction(claims.action, claims.display_locale ?? 'en')
 * const isSameText = display !== null && (await displayHash(display)) === claims.display_hash
 */
export function displayHash(display: ActionDisplay): Promise<string> {
  return sha256Hex(canonicalDisplay(display))
}
