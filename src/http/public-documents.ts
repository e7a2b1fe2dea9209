/** The documents that each API serves to anybody, without an API key: those of the core are the keys that check its verdicts. */
import { createHash } from 'node:crypto'
import type { PublishedKey } from '../keys/verdict-key-ring.js'
import type { IncomingRequest } from './listeners/listener.js'
import { JWKS_PATH, METADATA_PATH } from './routing/routes.js'

/** How long a verifier may keep the keys. A key that is removed at once is accepted by some verifiers for this long. */
const JWKS_MAX_AGE_SECONDS = 600
const METADATA_MAX_AGE_SECONDS = 3600

const NOT_MODIFIED = { status: 304, body: '' }

/** A document at an address of its own. It is answered to GET. */
export interface PublicDocument {
  path: string
  answer(request: IncomingRequest): DocumentReply
}

interface DocumentReply {
  status: number
  body: string
  /** Headers in addition to those that every reply has. */
  headers: Readonly<Record<string, string>>
}

interface PublicDocumentParts {
  /** Base URL of the environment, ending in /v1: the `iss` of its verdicts. */
  issuer: () => string
  /** The keys that check the environment's verdicts now. */
  publishedKeys: () => PublishedKey[]
}

/** The documents of the core. */
export function coreDocuments({ issuer, publishedKeys }: PublicDocumentParts): PublicDocument[] {
  return [
    {
      path: JWKS_PATH,
      answer: (request) =>
        // RFC 7517, section 8.5.2.
        cacheable(request, { keys: publishedKeys() }, 'application/jwk-set+json', JWKS_MAX_AGE_SECONDS),
    },
    {
      path: METADATA_PATH,
      answer: (request) =>
        cacheable(request, metadata(issuer()), 'application/json; charset=utf-8', METADATA_MAX_AGE_SECONDS),
    },
  ]
}

/**
 * The metadata by which a verifier that knows only `iss` finds the keys (OpenID Connect Discovery 1.0, section 4). The service has no
 * authorization endpoint and no response types: it says who acted, and signs nobody in.
 */
function metadata(issuer: string) {
  return {
    issuer,
    jwks_uri: issuer + JWKS_PATH.replace(/^\/v1/, ''),
    response_types_supported: [],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['ES256'],
  }
}

function cacheable(
  { headers }: IncomingRequest,
  content: unknown,
  contentType: string,
  maxAgeSeconds: number,
): DocumentReply {
  const body = JSON.stringify(content)
  const tag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`
  const caching = {
    'Content-Type': contentType,
    'Cache-Control': `public, max-age=${maxAgeSeconds}`,
    ETag: tag,
    // The documents are the same for everybody, so a page of any origin may read them.
    'Access-Control-Allow-Origin': '*',
  }
  const isKnown = (headers['if-none-match'] ?? '')
    .split(',')
    .some((one) => one.trim().replace(/^W\//, '') === tag)
  return isKnown ? { ...NOT_MODIFIED, headers: caching } : { status: 200, body, headers: caching }
}
