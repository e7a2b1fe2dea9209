/** POST /v1/enroll: captures a user's biometric reference. */

import Type, { type Static } from 'typebox'
import { passkeyView } from '../admin/views.js'
import { DomainError } from '../lib/domain-error.js'
import type { PasskeyContent } from '../users/passkey-vault.js'
import type { Evidence } from '../verification/biometric-provider.js'
import type { UserCall } from '../verification/call.js'
import { captureIntegrity } from '../verification/capture-integrity.js'
import { decidingProvider, followingProvider } from '../verification/deciding-model.js'
import { decodeImages } from '../verification/images.js'
import { openChallenge } from '../verification/opened-challenge.js'
import { requiredSettings } from '../verification/passkey-proof.js'
import {
  assertFirstPasskey,
  type RegistrationInput,
  registeredContent,
  storePasskey,
} from '../verification/passkey-registration.js'
import {
  CAPTURE_ERRORS,
  type Commit,
  ENROLLMENT,
  type EndpointDescription,
  type Outcome,
  type UserEndpoint,
} from './endpoint.js'
import { assessmentOf, Enrolment, type EnrolmentParts } from './enrolment.js'
import { includeField } from './include.js'
import { assertOneOf } from './key-scope.js'
import { passkeyName, passkeySchema, registrationResponse } from './passkey-schemas.js'
import { assertPlainUserId } from './plain-user-id.js'
import {
  captureIntegrityField,
  consent,
  EXAMPLE_IMAGE,
  enrollmentQuality,
  exactlyOneImageField,
  imageFields,
  liveness,
  requireLiveness,
  time,
  userId,
} from './schemas.js'
import type { Services } from './services.js'
import { PASSKEY_ERRORS, spendChallenges } from './spend-challenge.js'

const body = Type.Object(
  {
    user_id: userId,
    ...imageFields,
    require_liveness: Type.Optional(requireLiveness),
    replace: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'Replace the reference of a user who is already enrolled.',
      }),
    ),
    verification_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'Id, required with `replace` where the contract asks for a verdict or the user has a passkey, of an approved verify of this user for an action with the type `replace_reference`, made in the last minutes. The enrollment uses it up.',
      }),
    ),
    add: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Add the photos to the reference of a user who is already enrolled: each must match it. Not together with `replace`.',
      }),
    ),
    dry_run: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Assess the photos and store nothing: 200 instead of 201. `quality.issues` reports what an enrollment would refuse, `quality.images` every measurement. Whether the user is enrolled makes no difference.',
      }),
    ),
    consent: Type.Optional(consent),
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
    include: Type.Optional(includeField),
  },
  { title: 'EnrollRequest', additionalProperties: false, ...exactlyOneImageField },
)

const assessed = {
  user_id: userId,
  quality: enrollmentQuality,
  liveness,
  capture_integrity: Type.Union([captureIntegrityField, Type.Null()], {
    description: 'Null where no report was sent.',
  }),
  model: Type.String({ description: 'The model pack that made the reference.' }),
}

const success = Type.Object(
  {
    reference_id: Type.String(),
    ...assessed,
    status: Type.Literal('enrolled'),
    created_at: time('When the reference was captured.'),
    passkey: Type.Union([passkeySchema, Type.Null()], {
      description: 'The passkey that was registered with the reference; null for none.',
    }),
  },
  { title: 'EnrollResult' },
)

const assessment = Type.Object({ ...assessed, status: Type.Literal('assessed') }, { title: 'AssessResult' })

export const enrollDescription: EndpointDescription = {
  id: 'enroll',
  topic: ENROLLMENT,
  sdkName: 'enroll',
  example: { user_id: 'ada+match', images: [EXAMPLE_IMAGE, EXAMPLE_IMAGE, EXAMPLE_IMAGE], replace: true },
  alwaysKeeps: true,
  method: 'POST',
  path: '/v1/enroll',
  summary: 'Enroll a user',
  description:
    'Captures a biometric reference at user creation. Several images, ideally three, are combined into one reference; each of them must be usable and match all the others. With `add`, photos join the reference of an enrolled user.',
  body,
  success: { status: 201, description: 'The user is enrolled.', schema: success },
  alternative: { status: 200, description: 'The photos are assessed: a dry run.', schema: assessment },
  errors: [
    'replace_verdict_required',
    'already_enrolled',
    'reference_not_found',
    'reference_model_mismatch',
    'locked_out',
    'passkey_already_registered',
    'passkey_proof_required',
    ...PASSKEY_ERRORS,
    ...CAPTURE_ERRORS,
    'liveness_failed',
    'different_people',
  ],
  usesEngine: true,
  answersWithSecret: false,
  idempotent: true,
  auditEvent: 'enroll',
  answersWithoutStore: false,
  scopes: ['enroll'],
}

type Input = Omit<Static<typeof body>, 'passkey_registration'> & { passkey_registration?: RegistrationInput }

/** The parts of the service that an enrollment uses. */
type Parts = EnrolmentParts & Pick<Services, 'store' | 'challenges' | 'config' | 'passkeys' | 'passkeyChecks'>

export function enroll(services: Parts): UserEndpoint<Input> {
  const { vault, store, provider, captures } = services
  const enrolment = new Enrolment(services)
  return {
    ...enrollDescription,
    aboutUser: true,
    async handle(call): Promise<Commit | Outcome> {
      const { input } = call
      // Both fields change whose face is recognized as this user.
      for (const field of ['replace', 'add'] as const)
        if (input[field]) assertOneOf(call.scopes, ['replace'], field)
      if (input.add && input.replace)
        throw new DomainError('invalid_request', {
          details: [{ path: 'add', issue: 'give either `add` or `replace`' }],
        })
      if (input.verification_id !== undefined && !input.replace)
        throw new DomainError('invalid_request', {
          details: [{ path: 'verification_id', issue: 'belongs to `replace`' }],
        })
      if (input.dry_run && input.challenge)
        throw new DomainError('invalid_request', {
          details: [{ path: 'dry_run', issue: 'a challenge is good for one call: assess photos' }],
        })
      if (input.passkey_registration && (!input.challenge || input.add))
        throw new DomainError('invalid_request', {
          details: [{ path: 'passkey_registration', issue: 'belongs to `challenge`, without `add`' }],
        })
      assertPlainUserId(input.user_id)
      const images = await decodeImages(input)
      const opened = await openChallenge(services, call, { purpose: 'enroll', action: null })
      const evidence = { images, challenge: opened?.frames ?? null }
      return spendChallenges(services.challenges, opened ? [opened.challenge] : [], async () => {
        const passkey = await passkeyOf(call)
        const captured = await capture(call, evidence)
        return passkey && typeof captured === 'function' ? withPasskey(call, captured, passkey) : captured
      })
    },
  }

  /** The passkey that is to be registered with the reference, checked; null for none. */
  async function passkeyOf({ input, tenant }: UserCall<Input>): Promise<PasskeyContent | null> {
    const given = input.passkey_registration
    return given ? registeredContent(services, requiredSettings(tenant), given, input.challenge!.nonce) : null
  }

  /** Registers the passkey in the transaction of the reference: both are stored, or neither is. */
  function withPasskey(call: UserCall<Input>, enrolling: Commit, content: PasskeyContent): Commit {
    return async (tx) => {
      const outcome = await enrolling(tx)
      if ('refused' in outcome) return outcome
      const subject = await vault.find(tx, call.user.blindIndex, call.user.id)
      await assertFirstPasskey(tx, services.passkeys, requiredSettings(call.tenant), subject)
      const { passkey, audit } = await storePasskey(tx, services, call, subject!, content)
      return {
        ...outcome,
        body: { ...(outcome.body as Record<string, unknown>), passkey: passkeyView(passkey) },
        audit: { ...outcome.audit, ...audit },
      }
    }
  }

  async function capture(call: UserCall<Input>, evidence: Evidence): Promise<Commit | Outcome> {
    const { input, user } = call
    // Checked here to save the engine useless work, and again in the transaction, which decides.
    if (input.add && !input.dry_run) await enrolment.assertAddable(call)
    else if (!input.dry_run) {
      const existing = await vault.find(store.read, user.blindIndex, user.id)
      if (existing?.reference) await enrolment.assertReplaceable(store.read, call, existing)
    }
    const deciding = decidingProvider(provider, call.tenant)
    const following = input.dry_run ? null : followingProvider(provider, call.tenant)
    const given = following ? { ...call, alsoEmbed: [following.model] } : call
    const enrolling = deciding.enrol(given, evidence, { assessOnly: input.dry_run ?? false })
    // Hashed while the engine computes, and before the transaction, which holds a lock of the database.
    const [enrolled, hashes] = await Promise.all([enrolling, captures.hash(evidence.images)])
    Object.assign(call.timings, enrolled.timingsMs)
    const integrity = await captureIntegrity(input, evidence.images)
    if (input.dry_run)
      return {
        status: 200,
        body: {
          ...assessmentOf({ call, enrolled, integrity }, enrolled.photoCount, deciding.model),
          status: 'assessed',
        },
        audit: { model: deciding.model, dry_run: true },
      }
    const photos = { call, hashes, enrolled, integrity }
    return (tx) => (input.add ? enrolment.add(tx, photos) : enrolment.store(tx, photos))
  }
}
