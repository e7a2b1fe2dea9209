/** POST /v1/keys/rotate-signing: a new JWT signing secret; the old one stays valid for 30 minutes. */
import Type, { type Static } from 'typebox'
import { ApiError } from '../api-error.js'
import { SECOND_MS } from '../clock.js'
import { rotationView } from '../operations/views.js'
import { OVERLAP_MS } from '../tenancy/signing-secrets.js'
import { type Endpoint, type EndpointDescription, SMALL_BODY_BYTES } from './endpoint.js'
import { time } from './schemas.js'
import type { Services } from './services.js'

const body = Type.Object(
  {
    force: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Rotate even in an overlap: ends the older secret at once.',
      }),
    ),
  },
  { title: 'RotateSigningRequest', additionalProperties: false },
)

const success = Type.Object(
  {
    signing_secret: Type.Object({
      id: Type.String({ description: 'The `kid` of signatures and JWTs.' }),
      secret: Type.String({ description: 'The new signing secret, shown only here.' }),
      created_at: time('When the secret was made.'),
    }),
    previous: Type.Object({ id: Type.String(), valid_until: time('End of the overlap.') }),
    overlap_seconds: Type.Integer({ examples: [OVERLAP_MS / SECOND_MS] }),
  },
  { title: 'RotateSigningResult' },
)

export const rotateSigningDescription: EndpointDescription = {
  id: 'rotate_signing',
  method: 'POST',
  path: '/v1/keys/rotate-signing',
  summary: "Rotate the tenant's signing secret",
  description:
    'Makes a new signing secret. For 30 minutes both secrets validate; redeploy the backend in that time. After it only the new secret signs and validates.',
  body,
  bodyOptional: true,
  success: { status: 200, description: 'The new secret.', schema: success },
  errors: ['rotation_in_progress', 'production_key_required', 'insecure_channel'],
  usesEngine: false,
  maxBodyBytes: SMALL_BODY_BYTES,
  answersWithSecret: true,
  idempotent: true,
  auditEvent: 'rotate_signing',
  answersWithoutStore: false,
  scopes: ['rotate'],
}

export function rotateSigning({ operations, store }: Services): Endpoint<Static<typeof body>> {
  return {
    ...rotateSigningDescription,
    async handle({ input, tenant, environment }) {
      const fresh = await store.read.tenantById(tenant.id)
      if (environment === 'sandbox' && fresh?.productionIssuedAt != null)
        throw new ApiError('production_key_required')
      return async (tx) => {
        const { result, facts } = await operations.keys.rotateSigningWithin(
          tx,
          tenant.id,
          input.force ?? false,
        )
        return {
          status: 200,
          body: { ...rotationView(result), overlap_seconds: OVERLAP_MS / SECOND_MS },
          observed: { effect: 'rotated' },
          audit: facts,
        }
      }
    },
  }
}
