/** The pages that say why no capture is possible: the link is unknown, has expired, or has served its purpose. */

import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import { type Brand, htmlDocument, sayer } from './html.js'

const HEADINGS = {
  not_found: 'heading_not_found',
  expired: 'heading_expired',
  elsewhere: 'heading_elsewhere',
  over: 'heading_over',
  over_phone: 'heading_over',
  number_shown: 'heading_number',
  over_second_person: 'heading_over',
  ended_refused: 'heading_ended',
  ended_locked_out: 'heading_ended',
  ended_code: 'heading_ended',
  ended_disowned: 'heading_ended',
  ended_number: 'heading_ended',
} as const

export interface Notice {
  text: keyof typeof HEADINGS
  /** Null where it is unknown which company asked for the capture. */
  brand: Brand | null
  /** Address at which the person can go on, or null when it is unknown or on another device. */
  back: string | null
  /** The number that `number_shown` shows. */
  number?: string | undefined
}

export function noticePage(language: DisplayLocale, { text, brand, back, number }: Notice): string {
  const say = sayer(language, { company: brand?.company })
  const heading = say(HEADINGS[text])
  return htmlDocument({
    language,
    brand,
    heading,
    main: [
      `<h1>${heading}</h1>`,
      // From this page only the button leads the person back.
      text === 'number_shown' ? `<p class="number">${escapeHtml(number!)}</p>` : '',
      text === 'over' ? '' : `<p>${say(text)}</p>`,
      back === null ? '' : `<p><a class="button primary" href="${escapeHtml(back)}">${say('back')}</a></p>`,
    ].join('\n'),
  })
}
