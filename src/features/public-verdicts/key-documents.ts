/** The documents by which anybody checks public verdicts: the keys, and the metadata of the issuer that names them. */
import { createHash } from 'node:crypto'
import type { Services } from '../../api/services.js'
import type { IncomingRequest } from '../../http/listeners/listener.js'
import type { PublicDocument } from '../../http/public-documents.js'
import type { VerdictKeyRing } from './verdict-key-ring.js'

export const JWKS_PATH = '/v1/.well-known/jwks.json'
/** A verifier puts its end behind the `iss` of a token. */
export const METADATA_PATH = '/v1/.well-known/openid-configuration'

/** How long a verifier may keep the keys. A key that is removed at once is accepted by some verifiers for this long. */
const JWKS_MAX_AGE_SECONDS = 600
const METADATA_MAX_AGE_SECONDS = 3600

export function keyDocuments(
  { environment, issuer }: Pick<Services, 'environment' | 'issuer'>,
  ring: Pick<VerdictKeyRing, 'published'>,
): PublicDocument[] {
  return [
    {
      path: JWKS_PATH,
      // RFC 7517, section 8.5.2.
      answer: (request) =>
        cacheable(
          request,
          { keys: ring.published(environment) },
          'application/jwk-set+json',
          JWKS_MAX_AGE_SECONDS,
        ),
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
): ReturnType<PublicDocument['answer']> {
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
  return isKnown ? { status: 304, body: '', headers: caching } : { status: 200, body, headers: caching }
}
