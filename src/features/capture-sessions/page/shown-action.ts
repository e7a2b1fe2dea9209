/** The text that the hosted page shows for a typed action, and what a verdict says of it. */

import { type ActionDisplay, displayAction } from '../../../contract/actions/display-action.js'
import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import { hashOfDisplay, type ShownDisplay } from '../../displayed-actions/exports.js'
import type { CaptureSession } from '../capture-session-book.js'
import { isolated } from './html.js'

export interface ShownAction {
  display: ActionDisplay
  shown: ShownDisplay
}

/** Most texts that are remembered, each up to a megabyte. The oldest one is forgotten first. */
const MAX_REMEMBERED = 16
const remembered = new Map<string, ShownAction | null>()

/**
 * The text of a session's action. It is written once, for all loads of the page and all challenges of a session.
 * @returns null for an action without a published type, and for an enrollment
 */
export function shownAction(session: CaptureSession, language: DisplayLocale): ShownAction | null {
  const key = `${session.record.id} ${language}`
  const known = remembered.get(key)
  if (known !== undefined) return known
  const shown = write(session, language)
  remembered.set(key, shown)
  if (remembered.size > MAX_REMEMBERED) remembered.delete(remembered.keys().next().value!)
  return shown
}

function write({ content: { captureRequest } }: CaptureSession, language: DisplayLocale): ShownAction | null {
  const display = displayAction(captureRequest.action, language, captureRequest.payees)
  if (!display) return null
  return { display, shown: { hash: hashOfDisplay(display), locale: language, version: display.version } }
}

/**
 * Writes the lines as HTML, in their order and with nothing between them. Each text is isolated, so that one that is written from
 * right to left moves nothing around it.
 */
export function actionHtml({ heading, lines }: ActionDisplay): string {
  const rows = lines.map(
    ({ label, value, note }) =>
      `<div><dt>${isolated(label)}</dt><dd>${isolated(value)}${note === undefined ? '' : `<p class="note">${escapeHtml(note)}</p>`}</dd></div>`,
  )
  // A long list scrolls inside its box: the keyboard reaches it too.
  return `<section class="action" id="action" tabindex="0" aria-labelledby="action-heading"><h2 id="action-heading">${escapeHtml(heading)}</h2>
<dl>
${rows.join('\n')}
</dl></section>`
}
