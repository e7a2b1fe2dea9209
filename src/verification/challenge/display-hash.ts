/** The hash by which a verdict names the text that a person was shown. */
import { createHash } from 'node:crypto'
import { type ActionDisplay, canonicalDisplay } from '../../contract/actions/display-action.js'

/** @returns SHA-256 of the text in RFC 8785 canonical form, in lower-case hex */
export function hashOfDisplay(display: ActionDisplay): string {
  return createHash('sha256').update(canonicalDisplay(display)).digest('hex')
}
