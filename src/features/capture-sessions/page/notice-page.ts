/** The pages that say why no capture is possible: the link is unknown, has expired, or has served its purpose. */

import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import type { CaptureEnding, CaptureSuccessor } from '../capture-session-book.js'
import { type Brand, brandHead } from './brand.js'
import { htmlDocument, sayer, titleOf } from './html.js'
import { PAGE_TEXTS } from './texts/page-languages.js'
import type { PageTexts } from './texts/texts-en.js'

export interface Notice {
  text:
    | 'not_found'
    | 'expired'
    | 'elsewhere'
    | 'over'
    | 'over_phone'
    | 'number_shown'
    | `over_${CaptureSuccessor}`
    | `ended_${CaptureEnding}`
  /** Name of the company that asked for the capture, or null when it is unknown. */
  company: string | null
  brand?: Brand
  /** Address at which the person can go on, or null when it is unknown or on another device. */
  back: string | null
  /** The number that `number_shown` shows. */
  number?: string | undefined
}

const HEADINGS: Record<Notice['text'], keyof PageTexts> = {
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
}

export function noticePage(language: DisplayLocale, { text, company, brand, back, number }: Notice): string {
  const say = sayer(PAGE_TEXTS[language], { company: company ?? '' })
  const heading = say(HEADINGS[text])
  return htmlDocument({
    language,
    // A link that the service does not know belongs to no company.
    title: titleOf(heading, company ?? PAGE_TEXTS[language].face_check),
    styles: brand?.styles ?? [],
    main: [
      company === null ? '' : brandHead(brand, company),
      `<h1>${heading}</h1>`,
      // From this page only the button leads the person back.
      text === 'number_shown' ? `<p class="number">${escapeHtml(number!)}</p>` : '',
      text === 'over' ? '' : `<p>${say(text)}</p>`,
      back === null ? '' : `<p><a class="button primary" href="${escapeHtml(back)}">${say('back')}</a></p>`,
    ].join('\n'),
  })
}
