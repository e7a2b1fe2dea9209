/** Schemas of passkeys: the answers of authenticators, the options for browsers, and the passkeys of a user as callers see them. */
import Type from 'typebox'
import { NONCE_LENGTH } from '../verification/challenge-book.js'
import { nullable, time } from './schemas.js'

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

/** Fields of every answer. Browsers may add fields, which are ignored. */
const answer = {
  id: base64url('Id of the credential'),
  rawId: base64url('The same id'),
  type: Type.Literal('public-key'),
  authenticatorAttachment: Type.Optional(nullable(Type.String({ maxLength: 64 }))),
  clientExtensionResults: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
}

/** RegistrationResponseJSON of WebAuthn Level 3. */
export const registrationResponse = Type.Object(
  {
    ...answer,
    response: Type.Object({
      clientDataJSON: base64url('What the browser signed for'),
      attestationObject: base64url('The credential, as its authenticator made it'),
      transports: Type.Optional(Type.Array(Type.String({ maxLength: 32 }), { maxItems: 16 })),
    }),
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
    response: Type.Object({
      clientDataJSON: base64url('What the browser signed for'),
      authenticatorData: base64url('What the authenticator says of itself'),
      signature: base64url('The signature'),
      userHandle: Type.Optional(nullable(Type.String({ maxLength: 128 }))),
    }),
  },
  {
    title: 'PasskeyAuthenticationResponse',
    description: 'Answer of `navigator.credentials.get()`, as `toJSON()` makes it.',
  },
)

export const challengeId = Type.String({ minLength: 1, maxLength: 64 })
export const nonce = Type.String({ minLength: NONCE_LENGTH, maxLength: NONCE_LENGTH })

const descriptor = Type.Object(
  { type: Type.Literal('public-key'), id: Type.String(), transports: Type.Array(Type.String()) },
  { title: 'PasskeyDescriptor', description: 'A credential, for the browser.' },
)

export const creationOptionsSchema = Type.Object(
  {
    challenge: Type.String(),
    rp: Type.Object({ id: Type.String(), name: Type.String() }),
    user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
    pubKeyCredParams: Type.Array(Type.Object({ type: Type.Literal('public-key'), alg: Type.Integer() })),
    timeout: Type.Integer(),
    excludeCredentials: Type.Array(descriptor),
    authenticatorSelection: Type.Object({
      residentKey: Type.String(),
      requireResidentKey: Type.Boolean(),
      userVerification: Type.String(),
    }),
    attestation: Type.String(),
  },
  {
    title: 'PasskeyCreationOptions',
    description: 'Options for `PublicKeyCredential.parseCreationOptionsFromJSON()`. Pass them on unchanged.',
  },
)

export const requestOptionsSchema = Type.Object(
  {
    challenge: Type.String(),
    rpId: Type.String(),
    timeout: Type.Integer(),
    allowCredentials: Type.Array(descriptor),
    userVerification: Type.String(),
  },
  {
    title: 'PasskeyRequestOptions',
    description: 'Options for `PublicKeyCredential.parseRequestOptionsFromJSON()`. Pass them on unchanged.',
  },
)

export const passkeyId = Type.String({ minLength: 1, maxLength: 64 })

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
    synced: Type.Boolean({
      description:
        'Whether the provider may copy the passkey to other devices. If not, a verdict names it `hwk`.',
    }),
    backed_up: Type.Boolean({ description: 'Whether it was copied when it was last used.' }),
    aaguid: Type.String({ description: 'Model of the authenticator; zeros where it does not say.' }),
    transports: Type.Array(Type.String()),
    created_at: time('When the passkey was registered.'),
    last_used_at: nullable(time('When it last signed for a verdict; null before the first.')),
  },
  { title: 'Passkey', description: 'A passkey of a user. Its key never leaves the service.' },
)

/** Fields of a verify that are about passkeys. */
export const passkeyFields = {
  require_passkey: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'Whether the call is refused without `passkey_assertion`. An assertion that is sent must be right in any case.',
    }),
  ),
  passkey_assertion: Type.Optional(
    Type.Object(
      {
        challenge_id: Type.Optional(challengeId),
        nonce: Type.Optional(nonce),
        credential: authenticationResponse,
      },
      {
        title: 'PasskeyAssertion',
        additionalProperties: false,
        description:
          'What a passkey of the user has signed for this action. With photos: also the `challenge_id` and `nonce` of `POST /v1/users/{user_id}/passkeys/assertion`. With `challenge`: the answer to the options in that challenge, and nothing else.',
      },
    ),
  ),
}

/** The passkey of a verdict. */
export const provenPasskey = Type.Object(
  {
    passkey_id: passkeyId,
    amr: Type.Union([Type.Literal('hwk'), Type.Literal('swk')], {
      description:
        'What the passkey counts as (RFC 8176): `hwk` for a key in hardware, `swk` for one in software. An approval has it in the `amr` and at the end of the `acr` of its JWT.',
    }),
  },
  {
    title: 'ProvenPasskey',
    description: 'The passkey that has signed for this action. Only where `passkey_assertion` was sent.',
  },
)
