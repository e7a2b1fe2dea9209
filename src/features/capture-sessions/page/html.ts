/** HTML of the capture listener's pages: the document around them, and texts that are put into it. */
import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import { PAGE_TEXTS } from './texts/page-languages.js'
import type { PageTexts } from './texts/texts-en.js'

/** Where script, style and pictures are served. */
export const ASSETS = '/assets'

/** The company that asks for the capture, as its page shows it. */
export interface Brand {
  company: string
  logo: { path: string; width: number; height: number } | null
  /** Paths of the style sheets. */
  styles: string[]
}

interface HtmlDocument {
  language: DisplayLocale
  /** Null for a link that the service does not know, which belongs to no company. */
  brand: Brand | null
  /** HTML, already escaped, as `main` is. The title names it with the company, and never the product, which the person does not know. */
  heading: string
  main: string
  /** Attributes of the element `main`. */
  attributes?: string
  /** Name of the script that the page loads; undefined for none. */
  script?: string
}

export function htmlDocument({ language, brand, heading, main, attributes, script }: HtmlDocument): string {
  const styles = [`${ASSETS}/page.css`, ...(brand?.styles ?? [])]
  const sheets = styles.map((path) => `<link rel="stylesheet" href="${path}">`)
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${heading} – ${escapeHtml(brand?.company ?? PAGE_TEXTS[language].face_check)}</title>
<link rel="icon" type="image/svg+xml" href="${ASSETS}/icon.svg">
${sheets.join('\n')}
${script === undefined ? '' : `<script type="module" src="${ASSETS}/${script}.js"></script>`}
</head>
<body><main ${attributes ?? ''}>${brand ? brandHead(brand) : ''}${main}</main></body>
</html>
`
}

/** Logo and name: a picture without the name would say nothing to somebody who does not see it. */
function brandHead({ logo, company }: Brand): string {
  const picture = logo
    ? `<img class="logo" src="${logo.path}" width="${logo.width}" height="${logo.height}" alt="">`
    : ''
  return `${picture}<p class="company">${isolated(company)}</p>\n`
}

/** Returns a function that gives texts of the page as HTML, with `{company}` and `{host}` replaced by these names. */
export function sayer(
  language: DisplayLocale,
  names: { company?: string | undefined; host?: string | null },
) {
  return (name: keyof PageTexts) =>
    escapeHtml(PAGE_TEXTS[language][name])
      .replaceAll('{company}', () => isolated(names.company ?? ''))
      .replaceAll('{host}', () => isolated(names.host ?? ''))
}

export type Say = ReturnType<typeof sayer>

/** @param kind classes of the element */
export function button(say: Say, id: string, text: keyof PageTexts, kind = ''): string {
  return `<button type="button" id="${id}" class="${kind}">${say(text)}</button>`
}

/** Isolates a text of somebody else, so that its direction of writing changes nothing around it. */
export function isolated(text: string): string {
  return `<bdi>${escapeHtml(text)}</bdi>`
}

export function paragraphs(text: string): string {
  return text
    .split(/\n\s*\n/)
    .map((paragraph) => `<p dir="auto">${escapeHtml(paragraph.trim()).replaceAll('\n', '<br>')}</p>`)
    .join('\n')
}
