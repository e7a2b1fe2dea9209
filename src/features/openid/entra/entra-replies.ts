/** Replies to Entra ID: metadata, and the form that the browser posts back. */
import { createHash } from 'node:crypto'
import { json, reply } from '../../../http/admin/replies.js'
import type { Reply } from '../../../http/listeners/listener.js'
import { escapeHtml } from '../../../lib/escape-html.js'
import { FACE_ACR_VALUES } from './entra-request.js'

const SUBMIT = 'document.forms[0].submit()'
/** Without `form-action`: browsers apply it to the redirects after the post as well, and Entra ID leads on to the application. */
const POLICY = [
  "default-src 'none'",
  `script-src 'sha256-${createHash('sha256').update(SUBMIT).digest('base64')}'`,
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ')

/** @param issuer URL of the issuer @param jwksUri address of its keys */
export function metadata(issuer: string, jwksUri: string): Reply {
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    jwks_uri: jwksUri,
    scopes_supported: ['openid'],
    response_types_supported: ['id_token'],
    response_modes_supported: ['form_post'],
    grant_types_supported: ['implicit'],
    // The subject of an answer is that of the hint.
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claim_types_supported: ['normal'],
    claims_supported: ['iss', 'aud', 'sub', 'iat', 'exp', 'nonce', 'acr', 'amr', 'auth_time'],
    claims_parameter_supported: true,
    acr_values_supported: FACE_ACR_VALUES,
  }
  return json(document, 200, { 'Cache-Control': 'public, max-age=300' })
}

/** A page that posts the fields to the address at once (OAuth 2.0 Form Post Response Mode). */
export function formPost(action: string, fields: Record<string, string | undefined>): Reply {
  const inputs = Object.entries(fields)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `<input type="hidden" name="${name}" value="${escapeHtml(value)}">`)
  const page = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Signing in</title></head>
<body><form method="post" action="${escapeHtml(action)}">
${inputs.join('\n')}
<noscript><button type="submit">Continue</button></noscript>
</form><script>${SUBMIT}</script></body></html>
`
  return reply(200, 'text/html; charset=utf-8', page, {
    'Content-Security-Policy': POLICY,
    'Referrer-Policy': 'origin',
  })
}
