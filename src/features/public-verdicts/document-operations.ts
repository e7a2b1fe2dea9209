/** The documents for verifiers in the OpenAPI document: both are answered without an API key. */
import Type from 'typebox'
import { text } from '../../api/schemas.js'
import { JWKS_PATH, METADATA_PATH } from './key-documents.js'

type Json = Record<string, unknown>

const jwks = Type.Object(
  {
    keys: Type.Array(
      Type.Object(
        {
          kty: Type.Literal('EC'),
          crv: Type.Literal('P-256'),
          x: Type.String(),
          y: Type.String(),
          kid: text('The `kid` in the header of the verdicts that this key checks.'),
          use: Type.Literal('sig'),
          alg: Type.Literal('ES256'),
        },
        { title: 'VerdictKey' },
      ),
    ),
  },
  { title: 'VerdictKeys' },
)

const metadata = Type.Object(
  {
    issuer: text('The `iss` of the environment’s verdicts.'),
    jwks_uri: text('Address of the keys.'),
    response_types_supported: Type.Array(Type.String(), { description: 'Empty: nobody is signed in here.' }),
    subject_types_supported: Type.Array(Type.Literal('public')),
    id_token_signing_alg_values_supported: Type.Array(Type.Literal('ES256')),
  },
  { title: 'IssuerMetadata' },
)

export const DOCUMENT_OPERATIONS: Readonly<Record<string, Json>> = {
  [JWKS_PATH]: operation({
    operationId: 'get_verdict_keys',
    summary: 'Get the keys that check verdicts',
    description:
      'Public keys of this environment, for `jwt_public`. No API key is needed. The keys may be cached as `Cache-Control` says; a verifier that meets an unknown `kid` reads them again.',
    contentType: 'application/jwk-set+json',
    schema: jwks,
  }),
  [METADATA_PATH]: operation({
    operationId: 'get_issuer_metadata',
    summary: 'Find the keys by the issuer',
    description:
      'Metadata at the address that verifiers make from the `iss` of a verdict. No API key is needed.',
    contentType: 'application/json',
    schema: metadata,
  }),
}

function operation({
  contentType,
  schema,
  ...texts
}: {
  operationId: string
  summary: string
  description: string
  contentType: string
  schema: unknown
}): Json {
  return {
    get: {
      ...texts,
      tags: ['verification'],
      security: [],
      parameters: [
        {
          name: 'If-None-Match',
          in: 'header',
          required: false,
          description: 'The `ETag` of the document that the caller has.',
          schema: { type: 'string' },
        },
      ],
      responses: {
        200: {
          description: 'The document.',
          headers: {
            ETag: { description: 'Names this state of the document.', schema: { type: 'string' } },
            'Cache-Control': {
              description: 'How long it may be cached, in seconds.',
              schema: { type: 'string' },
            },
          },
          content: { [contentType]: { schema } },
        },
        304: { description: 'The caller has the present document.' },
        405: refused('The method is not GET.'),
        500: refused('The service met an error of its own.'),
        503: refused('The service cannot answer now.'),
      },
    },
  }
}

function refused(description: string): Json {
  return {
    description,
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  }
}
