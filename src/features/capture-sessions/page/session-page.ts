/** Builds the page of a session as HTML. The page holds every text that the person reads, so that the script needs none. */

import type { Environment } from '../../../config/config.js'
import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import type { CaptureEnding, CaptureSide } from '../capture-session-book.js'
import { type Brand, brandHead } from './brand.js'
import { htmlDocument, isolated, paragraphs, sayer, titleOf } from './html.js'
import { actionHtml, type ShownAction } from './shown-action.js'
import { PAGE_TEXTS } from './texts/page-languages.js'
import type { PageTexts } from './texts/texts-en.js'

interface PageContent {
  language: DisplayLocale
  environment: Environment
  purpose: 'verify' | 'enroll'
  company: string
  /** The tenant's logo and style sheet. */
  brand: Brand
  /** The typed action with the hash of its text; null for an untyped one. */
  action: ShownAction | null
  description: string | undefined
  /** Where and when the session began, with a button, as HTML; empty where the page does not say it. */
  began: string
  /** The consent text that the page shows. The script sends its version and hash along with the agreement. */
  consent: { version: string; sha256: string; text: string }
  hasConsented: boolean
  /** Use of a passkey after the capture; null for none. */
  passkey: 'required' | 'preferred' | 'register' | null
  /** Whether the person still has to type the code. Until then the page does not say what is confirmed. */
  needsCode: boolean
  /** Whether the person has captured on a phone, and now types its number here. */
  needsNumber: boolean
  /** Device of the link. Only the first one leads back. */
  side: CaptureSide
  /** Whether the page offers to hand the capture to a phone. */
  canHandOver: boolean
  /** The page's own host when a phone cannot reach it, else null. */
  loopbackHost: string | null
}

const ENDINGS: readonly CaptureEnding[] = ['refused', 'locked_out', 'code', 'disowned', 'number']

export function sessionPage(content: PageContent): string {
  const { language, environment, purpose, company, consent, side, canHandOver } = content
  const say = sayer(PAGE_TEXTS[language], { company, host: content.loopbackHost })
  const button = (id: string, text: keyof PageTexts, kind = '', hidden = '') =>
    `<button type="button" id="${id}" class="${kind}"${hidden}>${say(text)}</button>`
  const heading = say(`title_${purpose}`)
  const { action, description, needsCode } = content
  const isTold = (action !== null || description !== undefined) && !needsCode
  const main = `${brandHead(content.brand, company)}
${environment === 'sandbox' ? `<p class="sandbox">${say('sandbox')}</p>` : ''}
<h1>${heading}</h1>
${isTold ? whatIsAsked(action, description, { asks: say(`asks_${purpose}`), noteFrom: say('note_from') }) : ''}
${needsCode ? '' : content.began}
<noscript><p class="message">${say('no_script')}</p></noscript>
<p class="message" role="alert" id="message"></p>
<section id="confirm" hidden>
<form id="code-form" autocomplete="off">
<p><label for="typed">${say('code_asks')}</label></p>
<input id="typed" name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required>
<div class="actions"><button class="primary">${say('code_button')}</button></div>
</form>
</section>
<section id="consent" data-version="${escapeHtml(consent.version)}" data-sha256="${consent.sha256}" hidden>
${isTold ? '' : `<p>${say(`asks_${purpose}`)}</p>`}
<div class="consent">${paragraphs(consent.text)}</div>
<div class="actions">${button('agree', 'agree', 'primary')}</div>
</section>
<section id="capture" hidden>
<countersign-capture mode="challenge"><span slot="done"></span></countersign-capture>
<div class="actions">${button('again', 'try_again_button', 'primary', ' hidden')}</div>
</section>
${content.passkey === null ? '' : passkeySection(content.passkey, say, button)}
<section id="checking" hidden><p class="busy" role="status" tabindex="-1">${say('checking')}</p></section>
${canHandOver ? phoneSection(content, say, button) : ''}
${canHandOver ? numberSection(say) : ''}
<section id="over" hidden>
<p role="status" tabindex="-1" id="outcome"></p>
${side === 'page' ? `<p><a class="button primary" id="back" href="">${say('back')}</a></p>` : ''}
</section>
<div class="actions" id="leave" hidden>
${canHandOver ? button('hand-over', 'use_phone') : ''}${button('cancel', 'back')}
</div>
<template id="texts" data-busy="${say('busy')}" data-passkey="${say('passkey_failed')}" data-unsupported="${say('passkey_unsupported')}"></template>
<template id="outcomes">
<span data-ending="done">${say(side === 'page' ? 'over' : 'over_phone')}</span>
<span data-ending="second_person">${say('over_second_person')}</span>
${ENDINGS.map((ending) => `<span data-ending="${ending}">${say(`ended_${ending}`)}</span>`).join('\n')}
</template>`
  return htmlDocument({
    language,
    title: titleOf(heading, company),
    main,
    styles: content.brand.styles,
    script: `page.${language}`,
    attributes: `data-consented="${content.hasConsented}" data-needs-code="${needsCode}"${content.needsNumber ? ' data-needs-number' : ''}${action && !needsCode ? ` data-display="${action.shown.hash}"` : ''}`,
  })
}

/** The page that a link shows before it belongs to a browser. It holds nothing of the session; its script begins. */
export function beginPage(
  language: DisplayLocale,
  { purpose, company, brand }: Pick<PageContent, 'purpose' | 'company' | 'brand'>,
): string {
  const say = sayer(PAGE_TEXTS[language], { company })
  const heading = say(`title_${purpose}`)
  return htmlDocument({
    language,
    title: titleOf(heading, company),
    main: `${brandHead(brand, company)}
<h1>${heading}</h1>
<noscript><p class="message">${say('no_script')}</p></noscript>
<p class="message" role="alert" id="message" data-busy="${say('busy')}"></p>
<div class="actions"><button type="button" id="again" class="primary" hidden>${say('try_again_button')}</button></div>`,
    styles: brand.styles,
    script: 'begin',
  })
}

/**
 * The action above everything else. A typed one is in the words of the page: the company's description stands below it, as a note of
 * the company's.
 */
function whatIsAsked(
  action: ShownAction | null,
  description: string | undefined,
  { asks, noteFrom }: { asks: string; noteFrom: string },
): string {
  if (!action)
    return `<p class="description"><span class="asks">${asks}</span> ${isolated(description ?? '')}</p>`
  const note = `<p class="company-note"><span class="asks">${noteFrom}</span> ${isolated(description ?? '')}</p>`
  return `<p class="asks">${asks}</p>\n${actionHtml(action.display)}${description === undefined ? '' : `\n${note}`}`
}

/** The part in which the person uses a passkey, after the capture: browsers ask for a click before. */
function passkeySection(
  use: 'required' | 'preferred' | 'register',
  say: ReturnType<typeof sayer>,
  button: (id: string, text: keyof PageTexts, kind?: string) => string,
): string {
  const purpose = use === 'register' ? 'register' : 'use'
  const skip = use === 'preferred' ? button('skip-passkey', 'passkey_skip') : ''
  return `<section id="passkey" data-use="${purpose}" hidden>
<p tabindex="-1">${say(`passkey_${purpose}`)}</p>
<div class="actions">${button('use-passkey', `passkey_${purpose}_button`, 'primary')}${skip}</div>
</section>`
}

function phoneSection(
  { loopbackHost }: PageContent,
  say: ReturnType<typeof sayer>,
  button: (id: string, text: keyof PageTexts) => string,
): string {
  const stay = `<div class="actions">${button('stay', 'stay_here')}</div>`
  if (loopbackHost !== null)
    return `<section id="phone" data-unreachable hidden>
<p role="status" tabindex="-1">${say('phone_unreachable')}</p>
${stay}
</section>`
  return `<section id="phone" hidden>
<div id="offer">
<p>${say('phone_hint')}</p>
<img class="code" id="code" alt="${say('phone_code_alt')}">
<p>${say('phone_link')}</p>
<p class="link"><a id="link" href=""></a></p>
<div class="actions">${button('copy', 'copy')}</div>
<p role="status" id="copied" data-text="${say('copied')}"></p>
</div>
<p role="status" tabindex="-1" id="waiting" data-taken="${say('phone_taken')}">${say('phone_waiting')}</p>
${stay}
</section>`
}

/** The part in which the person types the number that the phone shows. */
function numberSection(say: ReturnType<typeof sayer>): string {
  return `<section id="number" hidden>
<form id="number-form" autocomplete="off">
<p><label for="typed-number">${say('number_asks')}</label></p>
<input id="typed-number" name="number" inputmode="numeric" maxlength="16" required>
<div class="actions"><button class="primary">${say('code_button')}</button></div>
</form>
</section>`
}

/** The page's own consent text, for a tenant that has set none. */
export function ownConsent(language: DisplayLocale, purpose: 'verify' | 'enroll', company: string): string {
  return PAGE_TEXTS[language][`consent_${purpose}`].replaceAll('{company}', () => company)
}
