/** Schemas of passkeys: the answers of authenticators, the options for browsers, and the passkeys of a user as callers see them; and the errors of authenticators' answers. */

import Type from 'typebox'
import type { Topic } from '../../api/endpoint.js'
import { flag, nonceField, nullable, ownId, text, time, words } from '../../api/schemas.js'
import type { ErrorCode } from '../../contract/error-codes.js'
import { PASSKEY_REGISTRATIONS, PASSKEY_SIGNATURES } from '../../contract/sandbox-passkeys.js'

const listed = (outcomes: readonly string[]) => outcomes.map((outcome) => `\`${outcome}\``).join(', ')

export const PASSKEYS: Topic = {
  name: 'passkeys',
  about: 'Register passkeys, and have them sign for an action together with the face.',
  inSandbox: [
    'The sandbox also takes scripted passkeys, which need no authenticator. The `id` of such a credential begins with `sandbox-`, and its other fields need not be those of WebAuthn. Production refuses them.',
    '',
    `- a registration: \`response.attestationObject\` is one of ${listed(PASSKEY_REGISTRATIONS)}`,
    `- a signature: \`response.signature\` is one of ${listed(PASSKEY_SIGNATURES)}`,
  ].join('\n'),
}

export const PASSKEY_BODY_BYTES = 32_768
const MAX_NAME_CHARACTERS = 64
const MAX_FIELD_CHARACTERS = 24_576

const base64url = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: MAX_FIELD_CHARACTERS,
    pattern: '^[A-Za-z0-9_-]+$',
    description: `${description}, in base64url.`,
  })

const publicKey = Type.Literal('public-key', { description: 'The kind of credential.' })
const transports = { description: 'How a browser reaches it, such as `usb`.' }

/** Fields of every answer. Browsers may add fields, which are ignored. */
const answer = {
  id: base64url('Id of the credential'),
  rawId: base64url('The same id'),
  type: publicKey,
  authenticatorAttachment: Type.Optional(nullable(Type.String({ maxLength: 64, description: 'Not read.' }))),
  clientExtensionResults: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Not read.' }),
  ),
}

/** RegistrationResponseJSON of WebAuthn Level 3. */
export const registrationResponse = Type.Object(
  {
    ...answer,
    response: Type.Object(
      {
        clientDataJSON: base64url('The browser’s statement'),
        attestationObject: base64url('The credential, as its authenticator made it'),
        transports: Type.Optional(
          Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16, ...transports }),
        ),
      },
      { description: 'The answer of the authenticator.' },
    ),
  },
  {
    title: 'PasskeyRegistrationResponse',
    description: 'Answer of `navigator.credentials.create()`, as `toJSON()` makes it.',
  },
)

/** AuthenticationResponseJSON of WebAuthn Level 3. */
export const authenticationResponse = Type.Object(
  {
    ...answer,
    response: Type.Object(
      {
        clientDataJSON: base64url('The browser’s statement'),
        authenticatorData: base64url('The authenticator’s statement'),
        signature: base64url('The signature'),
        userHandle: Type.Optional(
          nullable(Type.String({ maxLength: 128, description: 'The handle of the user.' })),
        ),
      },
      { description: 'The answer of the authenticator.' },
    ),
  },
  {
    title: 'PasskeyAuthenticationResponse',
    description: 'Answer of `navigator.credentials.get()`, as `toJSON()` makes it.',
  },
)

export const challengeId = ownId('Id of the options.')
export const nonce = nonceField('Secret of the options.')

const descriptor = Type.Object(
  {
    type: publicKey,
    id: text('Id of the credential, in base64url.'),
    transports: Type.Array(Type.String(), transports),
  },
  { title: 'PasskeyDescriptor', description: 'A credential, for the browser.' },
)

const challenge = text('The bytes to sign, in base64url.')
const timeout = Type.Integer({ description: 'Milliseconds that the person has.' })

export const creationOptionsSchema = Type.Object(
  {
    challenge,
    rp: Type.Object(
      { id: Type.String(), name: Type.String() },
      { description: 'The tenant’s domain and name.' },
    ),
    user: Type.Object(
      { id: Type.String(), name: Type.String(), displayName: Type.String() },
      { description: 'A handle without meaning, and the names that the device shows.' },
    ),
    pubKeyCredParams: Type.Array(Type.Object({ type: publicKey, alg: Type.Integer() }), {
      description: 'Algorithms of COSE that are accepted.',
    }),
    timeout,
    excludeCredentials: Type.Array(descriptor, { description: 'Passkeys that the user has already.' }),
    authenticatorSelection: Type.Object(
      {
        residentKey: Type.String(),
        requireResidentKey: Type.Boolean(),
        userVerification: Type.String(),
      },
      { description: 'Abilities that the authenticator must have.' },
    ),
    attestation: text('`none`, or `direct` where AAGUIDs are listed.'),
  },
  {
    title: 'PasskeyCreationOptions',
    description: 'Options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. Pass them on unchanged.',
  },
)

export const requestOptionsSchema = Type.Object(
  {
    challenge,
    rpId: text('The tenant’s domain.'),
    timeout,
    allowCredentials: Type.Array(descriptor, { description: 'The passkeys of the user.' }),
    userVerification: text('Always `required`.'),
  },
  {
    title: 'PasskeyRequestOptions',
    description: 'Options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. Pass them on unchanged.',
  },
)

export const passkeyId = ownId('Id of the passkey.')

export const passkeyName = Type.String({
  minLength: 1,
  maxLength: MAX_NAME_CHARACTERS,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
  description: 'Name by which the person and the backend tell passkeys apart.',
  examples: ['Ada’s phone'],
})

export const passkeySchema = Type.Object(
  {
    passkey_id: passkeyId,
    name: nullable(passkeyName),
    synced: flag('Whether other devices may have a copy.'),
    backed_up: flag('Whether a copy existed at the last use.'),
    aaguid: text('Model of the authenticator, or zeros.'),
    transports: Type.Array(Type.String(), transports),
    created_at: time('When it was registered.'),
    last_used_at: nullable(time('When it last signed.')),
  },
  { title: 'Passkey', description: 'A passkey of a user. Its key never leaves the service.' },
)

export const provenPasskey = Type.Object(
  {
    passkey_id: passkeyId,
    amr: words(
      ['hwk', 'swk'],
      'The name of the proof (RFC 8176): `hwk` for a key in hardware, `swk` for one in software. An approval has it in the `amr` and at the end of the `acr` of its JWT.',
    ),
  },
  {
    title: 'ProvenPasskey',
    description: 'The passkey that has signed for this action. Null where no `passkey_assertion` was sent.',
  },
)

/** Refusals of a passkey that use its challenge up, like a capture that the engine refuses. */
export const PASSKEY_REFUSALS = [
  'passkey_not_found',
  'passkey_invalid',
  'passkey_challenge_mismatch',
  'passkey_origin_not_allowed',
  'passkey_rp_mismatch',
  'passkey_user_not_verified',
  'passkey_counter_reversed',
  'passkey_became_synced',
  'passkey_not_allowed',
] as const satisfies readonly ErrorCode[]

export const PASSKEY_ERRORS = ['passkeys_unavailable', ...PASSKEY_REFUSALS] as const
