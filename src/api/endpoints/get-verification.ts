/** GET /v1/verifications/{verification_id}: the verdict of an earlier verify, without its JWT and without anything biometric. */

import Type from 'typebox'
import { PACK_GRADES } from '../../../models/pack/grades.js'
import { REASONS } from '../../contract/verdict.js'
import { timeOfRequestId } from '../../crypto/identifiers.js'
import { isoTime } from '../../lib/clock.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import { type LookupPart, responseFields } from '../call-parts.js'
import { type Endpoint, type EndpointDescription, type Parameter, VERIFICATION } from '../endpoint.js'
import { flag, nullable, ownId, SHA256_HEX, text, time, userId, words } from '../schemas.js'
import type { Services } from '../services.js'
import { amrOf } from '../verdict-fields.js'

const verificationId = ownId()
const sha256Hex = Type.String({ pattern: SHA256_HEX })

const ofEarlierVersions = 'Null for a verification by a version that did not record it.'

const successWith = (parts: readonly LookupPart[]) =>
  Type.Object(
    {
      verification_id: text('The `jti` of the JWT.'),
      user_id: nullable(
        text(
          'The user, where the query named the user. Null otherwise: the service does not store user ids.',
        ),
      ),
      verdict: words(['approved', 'rejected']),
      reason: nullable(words(REASONS)),
      score: nullable(
        Type.Number({
          description: 'Similarity; higher is more alike. Null when the images were not compared.',
        }),
      ),
      threshold: Type.Number({ description: 'Lowest score that was approved.' }),
      fmr: Type.Number({ description: 'False match rate that the threshold reached on calibration data.' }),
      fmr_basis: nullable(words(['measured', 'extrapolated'], `Basis of \`fmr\`. ${ofEarlierVersions}`)),
      model_grade: nullable(words(PACK_GRADES, `Grade of the model pack at this rate. ${ofEarlierVersions}`)),
      model: text('The model pack that compared.'),
      acr: nullable(text(`The \`acr\` of the JWT. ${ofEarlierVersions}`)),
      amr: Type.Array(Type.String(), { description: 'The `amr` of the JWT.' }),
      replay: Type.Object(
        { suspected: Type.Boolean() },
        { description: 'Whether the capture had been seen before within 24 hours.' },
      ),
      action_matches: nullable(
        flag(
          'Whether the user was verified for the action with this `action_hash`. Null where the query held none.',
        ),
      ),
      ...responseFields(parts),
      policy_hash: nullable(text('The `policy_hash` of the JWT. Null where the tenant had no policy.')),
      policy_rule: nullable(text('The `policy_rule` of the JWT. Null where the tenant had no policy.')),
      approval_id: nullable(text('The other user’s verdict that this approval has used up; null for none.')),
      challenge_id: nullable(text('The challenge whose frames were judged; null for photos.')),
      capture_session_id: nullable(
        text('The session of the hosted page that took the capture; null for any other caller.'),
      ),
      request_id: text('The request that verified, the `txn` of the JWT.'),
      verified_at: time('When the verdict was reached.'),
    },
    { title: 'Verification' },
  )

/** @param parts what features add to look-ups */
export const getVerificationDescription = (parts: readonly LookupPart[]): EndpointDescription => ({
  id: 'get_verification',
  topic: VERIFICATION,
  sdkName: 'getVerification',
  method: 'GET',
  path: '/v1/verifications/{verification_id}',
  summary: 'Look a verification up',
  description:
    'Says what a verification answered, for as long as the audit log holds it. The answer holds no JWT: it is no proof, and approves nothing. Verifications of other tenants and of erased users are not found. After the database was restored from a backup, a verification from before is found only with `user_id`. The sandbox keeps the latest 1,000 verifications of a tenant, for `COUNTERSIGN_SANDBOX_RETENTION_DAYS`.',
  pathParameters: {
    verification_id: { schema: verificationId, description: 'Id that `POST /v1/verify` returned.' },
  },
  query: {
    user_id: {
      schema: userId,
      description:
        'The user who was verified. A verification of another user is not found, and the answer names the user.',
    },
    action_hash: {
      schema: sha256Hex,
      description:
        'SHA-256 of the action in RFC 8785 canonical form, in hex, as in the claim `action_hash`. `action_matches` then says whether the user was verified for this action. It needs `user_id`, whose key is part of the stored hash.',
    },
    ...hashesOf(parts),
  },
  success: { status: 200, description: 'The verification.', schema: successWith(parts) },
  // Only the sandbox answers `overloaded`, for users that end in `+unavailable`.
  errors: ['invalid_request', 'verification_not_found', 'overloaded'],
  scopes: ['verify', 'read'],
})

interface Input {
  verification_id: string
  user_id?: string
  /** Hashes. */
  [name: string]: string | undefined
}

const hashesOf = (parts: readonly LookupPart[]): Record<string, Parameter> =>
  Object.assign({}, ...parts.map(({ hashes }) => hashes))

/** @param parts what features add to look-ups */
export function getVerification(
  { verifications, vault }: Pick<Services, 'verifications' | 'vault'>,
  parts: readonly LookupPart[],
): Endpoint<Input> {
  const names = ['action_hash', ...Object.keys(hashesOf(parts))]
  const shown = Object.keys(successWith(parts).properties)
  return {
    ...getVerificationDescription(parts),
    async handle({ input, tenant, environment }) {
      const { verification_id: id, user_id } = input
      const asked = names.filter((name) => input[name] !== undefined)
      if (asked.length > 0 && user_id === undefined) throw invalidField(asked[0]!, 'needs `user_id`')
      const user =
        user_id === undefined
          ? null
          : { id: user_id, blindIndex: vault.blindIndex(tenant.id, environment, user_id) }
      const found = await verifications.find(tenant.id, id, {
        user,
        hashes: Object.fromEntries(asked.map((name) => [name, input[name]!])),
      })
      if (!found) throw new DomainError('verification_not_found')
      const { facts, matches } = found
      const members: Record<string, unknown> = {
        ...facts,
        ...Object.fromEntries(names.map((name) => [name.replace(/hash$/, 'matches'), matches(name)])),
        verification_id: id,
        user_id,
        amr: amrOf(facts.reason, facts.passkey_amr ?? null),
        replay: { suspected: facts.replay_suspected },
        capture_session_id: facts.capture_session,
        verified_at: isoTime(timeOfVerification(id)),
      }
      return {
        status: 200,
        body: Object.fromEntries(shown.map((name) => [name, members[name] ?? null])),
      }
    },
  }
}

/** When a verification was made: its id begins with the time of the verdict. */
function timeOfVerification(id: string): number {
  return timeOfRequestId(id.slice(id.indexOf('_') + 1))
}
