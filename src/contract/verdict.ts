/**
 * A verdict on the wire: the reasons of a rejection, and its members in their order, those of features among them. A member without a place
 * comes last. The SDKs' types of the claims are generated from here.
 */

/** Reasons of a rejection. */
export const REASONS = [
  'no_match',
  'liveness_failed',
  'replayed_capture',
  'locked_out',
  'reference_disabled',
  'second_approval_required',
  'same_person',
  'review_required',
] as const
export type Reason = (typeof REASONS)[number]

export const RESPONSE_ORDER: readonly string[] = [
  'verification_id',
  'user_id',
  'verdict',
  'reason',
  'score',
  'threshold',
  'fmr',
  'fmr_basis',
  'model_grade',
  'liveness',
  'quality',
  'replay',
  'capture_integrity',
  'model',
  'display',
  'verified_at',
  'jwt',
  'jwt_next',
  'jwt_public',
  'jwt_expires_at',
  'policy_hash',
  'policy_rule',
  'approval_id',
  'production_key',
  'passkey',
]

/** The facts that the sandbox keeps. */
export const FACT_ORDER: readonly string[] = [
  'verdict',
  'reason',
  'score',
  'threshold',
  'fmr',
  'fmr_basis',
  'model_grade',
  'replay_suspected',
  'capture_integrity',
  'model',
  'action_hash',
  'capture_session',
  'acr',
  'challenge_id',
  'request_id',
]

/** The JSON Schema of a claim. A verdict may lack one that `isOptional`. */
type Claim = Readonly<Record<string, unknown>> & { isOptional?: boolean }

/** The schema is that of the member of the response, or of its `display`, that has this name. */
const SHARED: Claim = {}
const text = (description: string): Claim => ({ type: 'string', description })
const seconds = (description: string): Claim => ({ type: 'number', description })
/** A description says when the claim is absent. The schema is that of the response where none is given. */
const optional = (description: string, schema = SHARED) => ({ ...schema, description, isOptional: true })
const optionalText = (description: string) => optional(description, { type: 'string' })

/** The claims of the JWT. */
export const CLAIMS: Readonly<Record<string, Claim>> = {
  iss: text('Base URL of the environment that signed.'),
  aud: text('Id of the tenant.'),
  sub: text('The `user_id` of the call.'),
  iat: seconds('When the verdict was signed, in unix seconds.'),
  nbf: seconds('When the verdict begins to be valid, in unix seconds.'),
  exp: seconds('When the verdict expires, in unix seconds.'),
  jti: text('The `verification_id`.'),
  txn: text('Id of the request, also in the service’s log.'),
  env: { type: 'string', enum: ['production', 'sandbox'], description: 'Environment that signed.' },
  verdict: SHARED,
  reason: optional('Why it is a rejection. Absent in an approval.'),
  score: optional('Similarity of the faces; higher is more alike. Absent in a rejection.'),
  fmr: SHARED,
  fmr_basis: SHARED,
  action: {
    type: ['object', 'string'],
    description: 'The action as the caller sent it. Never run it from here.',
  },
  action_hash: text('SHA-256 of the action in RFC 8785 canonical form, in lower-case hex.'),
  display_hash: optional(
    'SHA-256 of the text that the person was shown. Absent where the service wrote none.',
  ),
  display_locale: optional('Language of that text. Absent as `display_hash`.'),
  display_version: optional('Version of its template. Absent as `display_hash`.'),
  display_source: optional('Your own page was given the text. Absent where the hosted page showed it.'),
  nonce: optionalText('The `nonce` of the call. Absent where it sent none.'),
  capture_session: optionalText('Session of the hosted page; only the service writes it. Absent for others.'),
  capture_binding: optional('`same`: only the browser that captured got the result. Absent for others.', {
    enum: ['same', 'any'],
    type: 'string',
  }),
  amr: {
    type: 'array',
    items: { type: 'string' },
    description: 'Methods of RFC 8176: `face`, and in an approval with a passkey also `hwk` or `swk`.',
  },
  acr: text('Which checks an approval rests on; `0` in a rejection.'),
  liveness: {
    type: 'object',
    properties: {
      checked: { type: 'boolean' },
      passed: { anyOf: [{ type: 'boolean' }, { type: 'null' }] },
      methods: { type: 'array', items: { type: 'string' } },
      score: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    },
    required: ['checked', 'passed', 'methods'],
    description: 'How liveness was checked. The verdict claims nothing beyond it. A rejection has no score.',
  },
  challenge_id: optionalText('Challenge whose frames were judged. Absent for photos.'),
  passkey_id: optionalText('Passkey that signed for this action. Absent where none was asked.'),
  auth_time: seconds('When the capture was judged, in unix seconds.'),
  model: text('Model pack.'),
  model_grade: SHARED,
  replay: SHARED,
  policy_hash: optional('SHA-256 of the policy that was in force. Absent where the tenant has none.'),
  policy_rule: optional('Rule of that policy that decided. Absent where the tenant has none.'),
  approval_id: optional(
    'Verdict of the other user that this approval used up. Absent where none was needed.',
  ),
}
