/** Says on the page when and where a session began. A person who was sent a link sees by it that somebody else asked. */

import type { DisplayLocale } from '../../../contract/locales.js'
import { isoTime } from '../../../lib/clock.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import type { CaptureSession } from '../capture-session-book.js'
import { isolated, sayer } from './html.js'
import { PAGE_TEXTS } from './texts/page-languages.js'

/** @returns HTML; empty for a session of which it is not known that a visitor began it */
export function beganHtml(
  { record, content }: Pick<CaptureSession, 'record' | 'content'>,
  language: DisplayLocale,
  company: string,
): string {
  const { began } = content.captureRequest
  if (!began) return ''
  const say = sayer(language, { company })
  const at = isoTime(record.createdAt)
  // The script writes the time of the person's own zone.
  const time = `<time datetime="${at}">${at.slice(11, 16)} UTC</time>`
  const part = (name: 'began_browser' | 'began_address', value: string | undefined) =>
    value === undefined ? '' : say(name).replace('{value}', () => isolated(value))
  const sentence = escapeHtml(PAGE_TEXTS[language].began)
    .replace('{time}', () => time)
    .replace('{browser}', () => part('began_browser', began.browser))
    .replace('{address}', () => part('began_address', began.ip))
  return `<div id="began"><p>${sentence}</p>
<div class="actions"><button type="button" id="not-me">${say('not_me')}</button></div></div>`
}
