/** The page that explains every error code to a person, made from the registry. `doc_url` of an error leads to its row. */
import { ERRORS, type ErrorCategory } from '../../contract/error-codes.js'

/** The meaning of each category to a caller, in the order of the page. */
export const CATEGORY_MEANINGS: Readonly<Record<ErrorCategory, string>> = {
  invalid_request: 'The request is wrong. The same request will fail again.',
  authentication_failed: 'The API key is missing, wrong or no longer valid.',
  permission_denied: 'The API key is valid and may not do this.',
  not_found: 'What the request names is not there.',
  conflict: 'The request contradicts the present state.',
  biometric_rejected:
    'The images cannot be used. Ask the person for a new capture. (A failed check at verify is no error: it is a 200 with `verdict: "rejected"`.)',
  rate_limited: 'Too many requests for the contract of the tenant, or too many wrong API keys.',
  unavailable: 'The service cannot answer at the moment. Retry with the same idempotency key.',
  internal: 'A fault of the service.',
}

const STYLE = `:root{color-scheme:light dark}
body{margin:0 auto;max-width:56rem;padding:1.5rem 1rem 4rem;font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.5rem}
h3{font:600 1rem ui-monospace,monospace;margin:0}h3 a{color:inherit;text-decoration:none}
code{font-family:ui-monospace,monospace;font-size:.92em}
section{border-top:1px solid color-mix(in srgb,currentColor 20%,transparent);padding:.9rem .75rem}
section:target{background:color-mix(in srgb,#f5c542 25%,transparent)}
section p{margin:.3rem 0 0}
.status{font-weight:400;opacity:.75}`

/** The page needs nothing but its own style, and may be shown in no frame. */
export const ERRORS_PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}

/** One heading of the page, with the codes under it. */
export interface ErrorGroup {
  heading: string
  meaning: string
  errors: Array<{ code: string; status?: number; message?: string; remedy: string }>
}

export function apiErrorGroups(): ErrorGroup[] {
  return Object.entries(CATEGORY_MEANINGS).map(([heading, meaning]) => ({
    heading,
    meaning,
    errors: Object.entries(ERRORS)
      .filter(([, { category }]) => category === heading)
      .map(([code, entry]) => ({ code, ...entry })),
  }))
}

export const ERRORS_PAGE = errorsPage('Errors of the Countersign API', apiErrorGroups())

export function errorsPage(title: string, groups: ErrorGroup[]): string {
  const categories = groups.map(
    ({ heading, meaning, errors }) =>
      `<h2>${heading}</h2><p>${html(meaning)}</p>${errors.map(section).join('\n')}`,
  )
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>
<p>An error body names its exact reason in <code>code</code>. Its <code>message</code> and <code>remedy</code> may be more exact than the sentences here.</p>
${categories.join('\n')}</main></body></html>
`
}

function section({ code, status, message = '', remedy }: ErrorGroup['errors'][number]): string {
  const said = message && `<p>${html(message)}</p>`
  return `<section id="${code}"><h3><a href="#${code}">${code}</a> <span class="status">${status ?? ''}</span></h3>${said}<p><strong>What to do:</strong> ${html(remedy)}</p></section>`
}

/** Escapes text for HTML; text between backticks becomes code. */
function html(text: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return escaped.replace(/`([^`]+)`/g, '<code>$1</code>')
}
