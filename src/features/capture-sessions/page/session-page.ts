/** Builds the page of a session as HTML. The page holds every text that the person reads, so that the script needs none. */

import type { DisplayLocale } from '../../../contract/locales.js'
import { isoTime } from '../../../lib/clock.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import type { TenantRecord } from '../../../storage/records.js'
import { type CaptureEnding, type CaptureSession, hasAgreed } from '../capture-session-book.js'
import { isConfirmed } from '../confirmation-code.js'
import { brandOf } from './brand.js'
import { canHandOver } from './capture-flow.js'
import { consentOf } from './consent-text.js'
import { type Brand, button, htmlDocument, isolated, paragraphs, type Say, sayer } from './html.js'
import { loopbackHost } from './phone-code.js'
import { actionHtml, type ShownAction, shownAction } from './shown-action.js'

const ENDINGS: readonly CaptureEnding[] = ['refused', 'locked_out', 'code', 'disowned', 'number']

/** @param origin under which browsers reach the page */
export function sessionPage(
  session: CaptureSession,
  tenant: TenantRecord,
  language: DisplayLocale,
  origin: string,
): string {
  const { record, content, side } = session
  const { environment, purpose } = record
  const { description, passkey } = content.captureRequest
  const brand = brandOf(tenant)
  const { company } = brand
  // The page's own host where a phone cannot reach it.
  const host = loopbackHost(origin)
  const say = sayer(language, { company, host })
  const heading = say(`title_${purpose}`)
  const action = shownAction(session, language)
  const consent = consentOf(session, tenant, language)
  // Until the person has typed the code, the page does not say what is confirmed.
  const needsCode = !isConfirmed(content.code)
  const isTold = (action !== null || description !== undefined) && !needsCode
  const offersPhone = canHandOver(session)
  const main = `${environment === 'sandbox' ? `<p class="sandbox">${say('sandbox')}</p>` : ''}
<h1>${heading}</h1>
${isTold ? whatIsAsked(action, description, { asks: say(`asks_${purpose}`), noteFrom: say('note_from') }) : ''}
${needsCode ? '' : beganHtml(session, say)}
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
<div class="actions">${button(say, 'agree', 'agree', 'primary')}</div>
</section>
<section id="capture" hidden>
<countersign-capture mode="challenge"><span slot="done"></span></countersign-capture>
<div class="actions"><button type="button" id="again" class="primary" hidden>${say('try_again_button')}</button></div>
</section>
${passkey === undefined ? '' : passkeySection(passkey, say)}
<section id="checking" hidden><p class="busy" role="status" tabindex="-1">${say('checking')}</p></section>
${offersPhone ? phoneSection(host !== null, say) : ''}
${offersPhone ? numberSection(say) : ''}
<section id="over" hidden>
<p role="status" tabindex="-1" id="outcome"></p>
${side === 'page' ? `<p><a class="button primary" id="back" href="">${say('back')}</a></p>` : ''}
</section>
<div class="actions" id="leave" hidden>
${offersPhone ? button(say, 'hand-over', 'use_phone') : ''}${button(say, 'cancel', 'back')}
</div>
<template id="texts" data-busy="${say('busy')}" data-passkey="${say('passkey_failed')}" data-unsupported="${say('passkey_unsupported')}"></template>
<template id="outcomes">
<span data-ending="done">${say(side === 'page' ? 'over' : 'over_phone')}</span>
<span data-ending="second_person">${say('over_second_person')}</span>
${ENDINGS.map((ending) => `<span data-ending="${ending}">${say(`ended_${ending}`)}</span>`).join('\n')}
</template>`
  return htmlDocument({
    language,
    brand,
    heading,
    main,
    script: `page.${language}`,
    attributes: `data-consented="${hasAgreed(session)}" data-needs-code="${needsCode}"${content.number ? ' data-needs-number' : ''}${action && !needsCode ? ` data-display="${action.shown.hash}"` : ''}`,
  })
}

/** The page that a link shows before it belongs to a browser. It holds nothing of the session; its script begins. */
export function beginPage(language: DisplayLocale, purpose: 'verify' | 'enroll', brand: Brand): string {
  const say = sayer(language, brand)
  const heading = say(`title_${purpose}`)
  return htmlDocument({
    language,
    brand,
    heading,
    main: `<h1>${heading}</h1>
<noscript><p class="message">${say('no_script')}</p></noscript>
<p class="message" role="alert" id="message" data-busy="${say('busy')}"></p>
<div class="actions"><button type="button" id="again" class="primary" hidden>${say('try_again_button')}</button></div>`,
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
function passkeySection(use: 'required' | 'preferred' | 'register', say: Say): string {
  const purpose = use === 'register' ? 'register' : 'use'
  const skip = use === 'preferred' ? button(say, 'skip-passkey', 'passkey_skip') : ''
  return `<section id="passkey" data-use="${purpose}" hidden>
<p tabindex="-1">${say(`passkey_${purpose}`)}</p>
<div class="actions">${button(say, 'use-passkey', `passkey_${purpose}_button`, 'primary')}${skip}</div>
</section>`
}

function phoneSection(isUnreachable: boolean, say: Say): string {
  const stay = `<div class="actions">${button(say, 'stay', 'stay_here')}</div>`
  if (isUnreachable)
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
<div class="actions">${button(say, 'copy', 'copy')}</div>
<p role="status" id="copied" data-text="${say('copied')}"></p>
</div>
<p role="status" tabindex="-1" id="waiting" data-taken="${say('phone_taken')}">${say('phone_waiting')}</p>
${stay}
</section>`
}

/** The part in which the person types the number that the phone shows. */
function numberSection(say: Say): string {
  return `<section id="number" hidden>
<form id="number-form" autocomplete="off">
<p><label for="typed-number">${say('number_asks')}</label></p>
<input id="typed-number" name="number" inputmode="numeric" maxlength="16" required>
<div class="actions"><button class="primary">${say('code_button')}</button></div>
</form>
</section>`
}

/** Says when and where a session began: a person who was sent a link sees by it that somebody else asked. @returns empty where nothing is known */
function beganHtml({ record, content }: CaptureSession, say: Say): string {
  const { began } = content.captureRequest
  if (!began) return ''
  const at = isoTime(record.createdAt)
  // The script writes the time of the person's own zone.
  const time = `<time datetime="${at}">${at.slice(11, 16)} UTC</time>`
  const part = (name: 'began_browser' | 'began_address', value: string | undefined) =>
    value === undefined ? '' : say(name).replace('{value}', () => isolated(value))
  const sentence = say('began')
    .replace('{time}', () => time)
    .replace('{browser}', () => part('began_browser', began.browser))
    .replace('{address}', () => part('began_address', began.ip))
  return `<div id="began"><p>${sentence}</p>
<div class="actions"><button type="button" id="not-me">${say('not_me')}</button></div></div>`
}
