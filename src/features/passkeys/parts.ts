/** The parts of verifies, enrollments, challenges and look-ups that are about passkeys. */
import Type from 'typebox'
import type { EnrollPart, VerifyPart } from '../../api/call-parts.js'
import { choice, nullable } from '../../api/schemas.js'
import { invalidField } from '../../lib/domain-error.js'
import { answerIn, type ChallengePart } from '../challenges/exports.js'
import { type PasskeyUse, passkeyField, passkeyOptions } from './passkey-options.js'
import {
  openAssertion,
  type ProvenPasskey,
  provePossession,
  reportReversedCounter,
  requiredSettings,
} from './passkey-proof.js'
import {
  assertFirstPasskey,
  type RegistrationInput,
  registeredContent,
  storePasskey,
} from './passkey-registration.js'
import {
  authenticationResponse,
  challengeId,
  creationOptionsSchema,
  nonce,
  PASSKEY_ERRORS,
  PASSKEY_REFUSALS,
  passkeyName,
  passkeySchema,
  provenPasskey,
  registrationResponse,
  requestOptionsSchema,
} from './passkey-schemas.js'
import { passkeyServices } from './passkey-services.js'
import { passkeyView } from './passkey-views.js'
import { permitPasskeys } from './permits.js'

/** Proof of a passkey for the action of a verify. */
export const verifyPart: VerifyPart<ProvenPasskey> = {
  request: {
    require_passkey: choice(
      'Whether the call is refused without `passkey_assertion`. An assertion that is sent must be right in any case.',
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
            'The signature of a passkey of the user for this action. With photos: also the `challenge_id` and `nonce` of `POST /v1/users/{user_id}/passkeys/assertion`. With `challenge`: the answer to the options in that challenge, and nothing else.',
        },
      ),
    ),
  },
  errors: ['passkey_required', ...PASSKEY_ERRORS],
  spendingErrors: PASSKEY_REFUSALS,
  fields: [
    {
      name: 'passkey',
      response: nullable(
        provenPasskey,
        'The passkey that has signed; null where no `passkey_assertion` was sent.',
      ),
      value: (_, passkey) => passkey && { passkey_id: passkey.id, amr: passkey.possession },
    },
    { name: 'passkey_id', to: ['jwt', 'audit'], value: (_, passkey) => passkey?.id },
    { name: 'passkey_amr', to: ['kept', 'audit'], value: (_, passkey) => passkey?.possession },
    {
      name: 'passkey_became_synced',
      to: ['audit'],
      value: (_, passkey) => passkey?.becameSynced || undefined,
    },
  ],
  create(services) {
    const own = passkeyServices(services)
    return {
      async open(call, action) {
        const opened = await openAssertion(own, call, action)
        return opened && { once: opened.challenge, prove: (subject) => provePossession(own, subject, opened) }
      },
      onRefused: (tx, call, error) => reportReversedCounter(own, tx, call, error),
      async onVerdict(tx, call, verdict, passkey, made) {
        await passkey?.use(tx)
        return permitPasskeys(own, tx, call, verdict, passkey, made)
      },
    }
  },
}

/** A passkey that is registered with the reference. */
export const enrollPart: EnrollPart = {
  request: {
    passkey_registration: Type.Optional(
      Type.Object(
        { credential: registrationResponse, name: Type.Optional(passkeyName) },
        {
          title: 'EnrolledPasskey',
          additionalProperties: false,
          description:
            'A passkey to register together with the reference: the answer to the options in `challenge`, whose frames the request holds.',
        },
      ),
    ),
  },
  response: {
    passkey: nullable(passkeySchema, 'The passkey that was registered with the reference; null for none.'),
  },
  errors: ['passkey_already_registered', 'passkey_proof_required', ...PASSKEY_ERRORS],
  spendingErrors: PASSKEY_REFUSALS,
  create(services) {
    const own = passkeyServices(services)
    return {
      assertFits({ input }) {
        if (registrationIn(input) && (!answerIn(input) || input.add))
          throw invalidField('passkey_registration', 'belongs to `challenge`, without `add`')
      },
      async prepare(call) {
        const { input, tenant } = call
        const given = registrationIn(input)
        if (!given) return null
        const settings = requiredSettings(tenant)
        const content = await registeredContent(own, settings, given, answerIn(input)!.nonce)
        return async (tx, subject) => {
          await assertFirstPasskey(tx, own.passkeys, settings, subject)
          const { passkey, audit } = await storePasskey(tx, own, call.user.id, subject, content)
          return { body: { passkey: passkeyView(passkey) }, audit }
        }
      },
    }
  },
}

function registrationIn(input: object): RegistrationInput | undefined {
  return (input as { passkey_registration?: RegistrationInput }).passkey_registration
}

/** Options of a passkey, for the frames of a challenge. */
export const challengePart: ChallengePart = {
  request: { passkey: Type.Optional(passkeyField) },
  response: {
    passkey: Type.Optional(
      nullable(
        Type.Union([requestOptionsSchema, creationOptionsSchema], {
          description:
            'Options for the browser, whose answer is sent with the frames. Null for a user without passkeys, where `passkey` was `preferred`.',
        }),
      ),
    ),
  },
  errors: ['passkeys_unavailable', 'passkey_not_found', 'passkey_proof_required'],
  create(services) {
    const own = passkeyServices(services)
    return {
      async prepare(call, purpose) {
        const { passkey: use } = call.input as { passkey?: PasskeyUse }
        const optionsFor = await passkeyOptions(own, call, purpose, use)
        return optionsFor && { membersOf: (...from) => ({ passkey: optionsFor(...from) }) }
      },
    }
  },
}

/** The number of a user's passkeys, which the look-up counts for their table. */
export const userPart = {
  response: { passkeys: Type.Integer({ minimum: 0, description: 'Number of passkeys of the user.' }) },
}
