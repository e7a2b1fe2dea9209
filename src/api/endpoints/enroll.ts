/** POST /v1/enroll: captures a user's biometric reference. */

import Type, { type Static } from 'typebox'
import { invalidField } from '../../lib/domain-error.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Evidence } from '../../verification/biometric-provider.js'
import type { UserCall } from '../../verification/call.js'
import { captureIntegrity } from '../../verification/capture/capture-integrity.js'
import { decidingProvider, followingProvider } from '../../verification/references/deciding-model.js'
import {
  type CallParts,
  type EnrollWrite,
  errorsOf,
  inTurn,
  requestFields,
  responseFields,
  spendingErrorsOf,
} from '../call-parts.js'
import { Captures } from '../captures.js'
import {
  CAPTURE_ERRORS,
  type Commit,
  ENROLLMENT,
  type EndpointDescription,
  type Outcome,
  type Refusal,
  type UserEndpoint,
} from '../endpoint.js'
import { assessmentOf, Enrolment, type Stored } from '../enrolment.js'
import { assertPlainUserId } from '../enrolment-checks.js'
import { useUp } from '../good-once.js'
import { assertOneOf } from '../key-scope.js'
import {
  captureIntegrityField,
  choice,
  consent,
  EXAMPLE_IMAGE,
  enrollmentQuality,
  exactlyOnePictureField,
  includeField,
  liveness,
  nullable,
  ownId,
  pictureFields,
  requireLiveness,
  text,
  time,
  userId,
} from '../schemas.js'
import type { Services } from '../services.js'

/** The parts that features add to enrollments, and their fields for pictures. */
type Parts = Pick<CallParts, 'enroll' | 'capture'>

const bodyWith = ({ enroll: parts, capture }: Parts) =>
  Type.Object(
    {
      user_id: userId,
      ...pictureFields(capture),
      require_liveness: Type.Optional(requireLiveness),
      replace: choice('Replace the reference of a user who is already enrolled.'),
      verification_id: Type.Optional(
        ownId(
          'Id, required with `replace` where the contract asks for a verdict or the user has a passkey, of an approved verification of this user for an action with the type `replace_reference`, made in the last minutes. The enrollment uses it up.',
        ),
      ),
      add: choice(
        'Add the photos to the reference of a user who is already enrolled: each must match it. Not together with `replace`.',
      ),
      dry_run: choice(
        'Assess the photos and store nothing: 200 instead of 201. `quality.issues` reports what an enrollment would refuse, `quality.images` every measurement. Whether the user is enrolled makes no difference.',
      ),
      consent: Type.Optional(consent),
      ...requestFields(parts),
      include: Type.Optional(includeField),
    },
    { title: 'EnrollRequest', additionalProperties: false, ...exactlyOnePictureField(capture) },
  )

const assessed = {
  user_id: userId,
  quality: enrollmentQuality,
  liveness,
  capture_integrity: nullable(captureIntegrityField, 'Null where no report was sent.'),
  model: text('The model pack that made the reference.'),
}

const successWith = ({ enroll: parts }: Parts) =>
  Type.Object(
    {
      reference_id: Type.String(),
      ...assessed,
      status: Type.Literal('enrolled'),
      created_at: time('When the reference was captured.'),
      ...responseFields(parts),
    },
    { title: 'EnrollResult' },
  )

const assessment = Type.Object({ ...assessed, status: Type.Literal('assessed') }, { title: 'AssessResult' })

/** @param parts what features add to enrollments */
export const enrollDescription = (parts: Parts): EndpointDescription => ({
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
  body: bodyWith(parts),
  success: { status: 201, description: 'The user is enrolled.', schema: successWith(parts) },
  alternative: { status: 200, description: 'The photos are assessed: a dry run.', schema: assessment },
  errors: [
    'replace_verdict_required',
    'already_enrolled',
    'reference_not_found',
    'reference_model_mismatch',
    'locked_out',
    ...errorsOf(parts.enroll),
    ...errorsOf(parts.capture),
    ...CAPTURE_ERRORS,
    'liveness_failed',
    'different_people',
  ],
  usesEngine: true,
  maxBodyBytes: Number.POSITIVE_INFINITY,
  idempotent: true,
  auditEvent: 'enroll',
  scopes: ['enroll'],
})

type Input = Static<ReturnType<typeof bodyWith>>

/** Writes the reference, in the transaction of the call. */
type Enrolling = (tx: StoreTransaction) => Promise<Stored | Refusal>

/** @param added what features add to enrollments */
export function enroll(services: Services, added: Parts): UserEndpoint<Input> {
  const { enroll: parts, capture: fields } = added
  const { vault, store, provider, captures } = services
  const pictured = new Captures(services, fields)
  const enrolment = new Enrolment(services)
  const works = parts.map((part) => part.create(services))
  const spendingErrors = spendingErrorsOf(parts)
  /** The members of parts in the answer to a plain enrollment. */
  const absent = Object.fromEntries(Object.keys(responseFields(parts)).map((name) => [name, null]))
  return {
    ...enrollDescription(added),
    aboutUser: true,
    async handle(call): Promise<Commit | Outcome> {
      const { input } = call
      // Both fields change whose face is recognized as this user.
      for (const field of ['replace', 'add'] as const)
        if (input[field]) assertOneOf(call.scopes, ['replace'], field)
      if (input.add && input.replace) throw invalidField('add', 'give either `add` or `replace`')
      if (input.verification_id !== undefined && !input.replace)
        throw invalidField('verification_id', 'belongs to `replace`')
      for (const work of works) work.assertFits?.(call)
      assertPlainUserId(input.user_id)
      const pictures = await pictured.decode(input)
      const opened = await pictured.open(call, pictures, { purpose: 'enroll', action: null })
      const evidence = { ...pictures, film: opened?.film ?? null }
      return useUp(opened ? [opened] : [], spendingErrors, async () => {
        const writes = await inTurn(works, (work) => work.prepare(call))
        const captured = await capture(call, evidence)
        return typeof captured === 'function' ? withParts(captured, writes) : captured
      })
    },
  }

  /** Does the work of parts in the transaction of the reference: all is stored, or nothing is. */
  function withParts(enrolling: Enrolling, writes: ReadonlyArray<EnrollWrite | null>): Commit {
    return async (tx) => {
      const stored = await enrolling(tx)
      if ('refused' in stored) return stored
      const { outcome, subject } = stored
      const body = { ...(outcome.body as Record<string, unknown>), ...absent }
      const audit = { ...outcome.audit }
      for (const write of writes) {
        const written = await write?.(tx, subject)
        Object.assign(body, written?.body)
        Object.assign(audit, written?.audit)
      }
      return { ...outcome, body, audit }
    }
  }

  async function capture(call: UserCall<Input>, evidence: Evidence): Promise<Enrolling | Outcome> {
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
    const integrity = await captureIntegrity(input, evidence.images, evidence.film !== null)
    if (input.dry_run)
      return {
        status: 200,
        body: {
          ...assessmentOf({ call, evidence, enrolled, integrity }, enrolled.photoCount, deciding.model),
          status: 'assessed',
        },
        audit: { model: deciding.model, dry_run: true },
      }
    const photos = { call, evidence, hashes, enrolled, integrity }
    return (tx) => (input.add ? enrolment.add(tx, photos) : enrolment.store(tx, photos))
  }
}
