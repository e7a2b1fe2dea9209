/** The pages themselves, as HTML: what the person reads stands in them, so that the script has no texts of its own. */
import type { CaptureLanguage } from '../config/capture-languages.js'
import type { Environment } from '../config.js'
import { PAGE_TEXTS, type PageTexts } from './page-texts.js'

/** Where script and style are served. */
export const ASSETS = '/assets'

export interface PageContent {
  language: CaptureLanguage
  environment: Environment
  purpose: 'verify' | 'enroll'
  company: string
  description: string | undefined
  /** The consent that the person is asked for. The script sends its version and hash along with the agreement. */
  consent: { version: string; sha256: string; text: string }
  hasConsented: boolean
  /** The code is yet to be typed: until then the page does not say what is confirmed. */
  needsCode: boolean
  /** Of the first device: it can be handed to a phone. */
  canHandOver: boolean
}

export function sessionPage(content: PageContent): string {
  const { language, environment, purpose, company, consent } = content
  const texts = PAGE_TEXTS[language]
  const say = sayer(texts, company)
  const button = (id: string, text: keyof PageTexts, kind = '', hidden = '') =>
    `<button type="button" id="${id}" class="${kind}"${hidden}>${say(text)}</button>`
  return htmlDocument(
    language,
    say(`title_${purpose}`),
    `<p class="company">${isolated(company)}</p>
${environment === 'sandbox' ? `<p class="sandbox">${say('sandbox')}</p>` : ''}
<h1>${say(`title_${purpose}`)}</h1>
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
<p>${say(`asks_${purpose}`)}</p>
${content.description && !content.needsCode ? `<p class="description">${isolated(content.description)}</p>` : ''}
<div class="consent">${paragraphs(consent.text)}</div>
<div class="actions">${button('agree', 'agree', 'primary')}</div>
</section>
<section id="capture" hidden>
<countersign-capture mode="challenge"><span slot="done"></span></countersign-capture>
<div class="actions">${button('again', 'try_again_button', 'primary', ' hidden')}</div>
</section>
<section id="checking" hidden><p role="status" tabindex="-1">${say('checking')}</p></section>
${
  content.canHandOver
    ? `<section id="phone" hidden>
<p>${say('phone_hint')}</p>
<img class="code" id="code" alt="">
<p role="status" tabindex="-1">${say('phone_waiting')}</p>
<div class="actions">${button('stay', 'stay_here')}</div>
</section>`
    : ''
}
<section id="over" hidden>
<p role="status" tabindex="-1">${say(content.canHandOver ? 'over' : 'over_phone')}</p>
${content.canHandOver ? `<p><a class="button" id="back" href="">${say('back')}</a></p>` : ''}
</section>
<div class="actions" id="leave" hidden>
${content.canHandOver ? button('hand-over', 'use_phone') : ''}${button('cancel', 'back')}
</div>
<template id="texts" data-busy="${say('busy')}"></template>`,
    `data-consented="${content.hasConsented}" data-needs-code="${content.needsCode}"`,
  )
}

/** @param backTo where the person can go on; null where that is not known */
export function noticePage(
  language: CaptureLanguage,
  text: 'not_found' | 'expired' | 'elsewhere' | 'over' | 'over_phone',
  backTo: { company: string; url: string } | null,
): string {
  const texts = PAGE_TEXTS[language]
  const say = sayer(texts, backTo?.company ?? '')
  return htmlDocument(
    language,
    'Countersign',
    `<h1>${say(text)}</h1>${
      backTo ? `<p><a class="button primary" href="${escapeHtml(backTo.url)}">${say('back')}</a></p>` : ''
    }`,
  )
}

/** The consent of the page itself, where the tenant has none. */
export function ownConsent(language: CaptureLanguage, purpose: 'verify' | 'enroll', company: string): string {
  return PAGE_TEXTS[language][`consent_${purpose}`].replaceAll('{company}', () => company)
}

function htmlDocument(language: CaptureLanguage, title: string, main: string, attributes = ''): string {
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="stylesheet" href="${ASSETS}/page.css">
${attributes ? `<script type="module" src="${ASSETS}/capture/page/page.js"></script>` : ''}
</head>
<body><main ${attributes}>${main}</main></body>
</html>
`
}

/** Texts of the page as HTML. The company's name comes from elsewhere, so it stands by itself whatever it holds. */
function sayer(texts: PageTexts, company: string) {
  return (name: keyof PageTexts) => escapeHtml(texts[name]).replaceAll('{company}', () => isolated(company))
}

/** A text of somebody else: its direction is its own and changes nothing around it. */
function isolated(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`
}

function paragraphs(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => `<p dir="auto">${escapeHtml(paragraph.trim()).replaceAll('\n', '<br>')}</p>`)
    .join('\n')
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}
