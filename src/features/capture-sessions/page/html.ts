/** HTML of the capture listener's pages: the document around them, and texts that are put into it. */
import type { DisplayLocale } from '../../../contract/locales.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import type { PageTexts } from './texts/texts-en.js'

/** Where script, style and pictures are served. */
export const ASSETS = '/assets'

interface HtmlDocument {
  language: DisplayLocale
  /** HTML, already escaped, as `main` is. */
  title: string
  main: string
  /** Attributes of the element `main`. */
  attributes?: string
  /** Name of the script that the page loads; undefined for none. */
  script?: string
  /** Paths of further style sheets. */
  styles?: readonly string[]
}

export function htmlDocument({
  language,
  title,
  main,
  attributes,
  script,
  styles = [],
}: HtmlDocument): string {
  const sheets = [`${ASSETS}/page.css`, ...styles].map((path) => `<link rel="stylesheet" href="${path}">`)
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${ASSETS}/icon.svg">
${sheets.join('\n')}
${script === undefined ? '' : `<script type="module" src="${ASSETS}/${script}.js"></script>`}
</head>
<body><main ${attributes ?? ''}>${main}</main></body>
</html>
`
}

/** Returns a function that gives texts of the page as HTML, with `{company}` and `{host}` replaced by these names. */
export function sayer(texts: PageTexts, names: { company: string; host?: string | null }) {
  return (name: keyof PageTexts) =>
    escapeHtml(texts[name])
      .replaceAll('{company}', () => isolated(names.company))
      .replaceAll('{host}', () => isolated(names.host ?? ''))
}

/**
 * Returns the title of a page as HTML. It names the company and never the product, which the person does not know.
 * @param heading HTML, already escaped
 */
export function titleOf(heading: string, company: string): string {
  return `${heading} – ${escapeHtml(company)}`
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
