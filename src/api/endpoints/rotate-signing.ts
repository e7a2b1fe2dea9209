/** POST /v1/keys/rotate-signing: makes a new JWT signing secret; the old one stays valid for 30 minutes. */

import Type, { type Static } from 'typebox'
import { rotationView } from '../../admin/key-operations.js'
import { OpenUnitOfWork } from '../../audit/audited-unit-of-work.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { OVERLAP_MS } from '../../tenants/signing-secrets.js'
import { type Endpoint, type EndpointDescription, KEYS } from '../endpoint.js'
import { choice, text, time } from '../schemas.js'
import type { Services } from '../services.js'

const body = Type.Object(
  {
    force: choice('Rotate even during an overlap: the older secret ends at once.'),
  },
  { title: 'RotateSigningRequest', additionalProperties: false },
)

export const rotationSchema = Type.Object(
  {
    signing_secret: Type.Object({
      id: text('The `kid` of signatures and JWTs.'),
      secret: text('The new signing secret. No replay and no other call returns it again.'),
      created_at: time('When the secret was made.'),
    }),
    previous: Type.Object({ id: Type.String(), valid_until: time('End of the overlap.') }),
    overlap_seconds: Type.Integer({ examples: [OVERLAP_MS / SECOND_MS] }),
  },
  { title: 'RotateSigningResult' },
)

export const rotateSigningDescription: EndpointDescription = {
  id: 'rotate_signing',
  topic: KEYS,
  operationId: 'rotate_signing_secret',
  sdkName: 'rotateSigning',
  method: 'POST',
  path: '/v1/keys/rotate-signing',
  summary: "Rotate the tenant's signing secret",
  description:
    'Makes a new signing secret. For 30 minutes both secrets validate; redeploy the backend in that time. Afterwards only the new secret signs and validates. The new secret is returned once and not kept: a repeat with the same idempotency key rotates nothing and gets 409 `secret_already_told`, which names the new secret by its id. If the response was lost, rotate again with a new idempotency key and `force`.',
  body,
  bodyOptional: true,
  success: { status: 200, description: 'The new secret.', schema: rotationSchema },
  errors: ['rotation_in_progress', 'secret_already_told', 'production_key_required', 'insecure_channel'],
  answersWithSecret: true,
  idempotent: true,
  auditEvent: 'rotate_signing',
  scopes: ['rotate'],
}

/** The parts of the service that rotate a signing secret. */
type Parts = Pick<Services, 'operations' | 'store' | 'productionKeyIssue'>

export function rotateSigning({
  operations,
  store,
  productionKeyIssue,
}: Parts): Endpoint<Static<typeof body>> {
  return {
    ...rotateSigningDescription,
    assertPermitted: ({ tenant }) => productionKeyIssue.assertMayRotate(store.read, tenant.id),
    refuseReplay,
    async handle({ input, tenant }) {
      return async (tx) => {
        // The right is checked again inside the transaction: a parallel verify may just have issued the production key.
        await productionKeyIssue.assertMayRotate(tx, tenant.id)
        const unit = new OpenUnitOfWork(tx)
        const view = rotationView(await operations.keys.rotateSigning(tenant, unit, input.force ?? false))
        const { secret: _secret, ...kept } = view.signing_secret
        return {
          status: 200,
          body: { ...view, overlap_seconds: OVERLAP_MS / SECOND_MS },
          keptBody: { ...view, signing_secret: kept },
          observed: { effect: 'rotated' },
          audit: unit.facts,
        }
      }
    },
  }
}

/** Names the secret of the first response by its id. Earlier versions kept the secret itself, which is ignored. */
function refuseReplay(keptBody: Record<string, unknown>): DomainError {
  const { signing_secret, previous } = keptBody as Pick<
    Static<typeof rotationSchema>,
    'signing_secret' | 'previous'
  >
  return new DomainError('secret_already_told', {
    message: `The signing secret ${signing_secret.id} was returned once, in the first response to this request, and is not kept.`,
    details: [
      { path: 'signing_secret.id', issue: signing_secret.id },
      { path: 'previous.id', issue: `${previous.id}, valid until ${previous.valid_until}` },
    ],
  })
}
