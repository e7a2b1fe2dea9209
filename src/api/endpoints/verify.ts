/** POST /v1/verify: decides whether a capture shows the user who acts, and signs the verdict for this action as a JWT. */

import Type from 'typebox'
import { isOfType, REPLACE_ACTION } from '../../contract/own-actions.js'
import { isOwnId, prefixedId } from '../../crypto/identifiers.js'
import { actionHash } from '../../crypto/verification-jwt.js'
import { type DomainError, invalidField } from '../../lib/domain-error.js'
import type { Standing } from '../../storage/records.js'
import type { StoreTransaction } from '../../storage/store.js'
import type { Subject } from '../../users/template-vault.js'
import { captureIntegrity } from '../../verification/capture/capture-integrity.js'
import { DecisionPolicy } from '../../verification/decision-policy.js'
import type {
  Condition,
  VerdictTerms,
  VerifyCall,
  VerifyEvidence,
  VerifyInput,
} from '../../verification/verdict.js'
import { termsOf } from '../../verification/verdict-terms.js'
import { signVerdict } from '../../verification/verdict-token.js'
import type { VerificationFacts } from '../../verification/verification-book.js'
import { actionField, canonicalAction } from '../action.js'
import {
  actionKindsOf,
  type CallParts,
  errorsOf,
  inTurn,
  requestFields,
  spendingErrorsOf,
  type VerifyWork,
} from '../call-parts.js'
import { Captures } from '../captures.js'
import {
  type AuditFacts,
  CAPTURE_ERRORS,
  type Commit,
  type EndpointDescription,
  type Observed,
  type Outcome,
  type UserEndpoint,
  VERIFICATION,
} from '../endpoint.js'
import { retryAfter } from '../error-response.js'
import { useUp } from '../good-once.js'
import { assertActionScope } from '../key-scope.js'
import {
  EXAMPLE_IMAGE,
  exactlyOnePictureField,
  includeField,
  pictureFields,
  requireLiveness,
  userId,
} from '../schemas.js'
import type { Services } from '../services.js'
import { type Reached, VerdictFields } from '../verdict-fields.js'

/** The parts that features add to verifies, and their fields for pictures. */
type Parts = Pick<CallParts, 'verify' | 'capture'>

const bodyWith = ({ verify: parts, capture }: Parts) =>
  Type.Object(
    {
      user_id: userId,
      ...pictureFields(capture),
      require_liveness: Type.Optional(requireLiveness),
      ...requestFields(parts),
      action: actionField(actionKindsOf(parts)),
      nonce: Type.Optional(
        Type.String({
          maxLength: 256,
          description:
            'Echoed in the JWT, so that the caller can tell its own verdict. It must not have the form of an id of this service, such as `cap_…`.',
        }),
      ),
      include: Type.Optional(includeField),
    },
    { title: 'VerifyRequest', additionalProperties: false, ...exactlyOnePictureField(capture) },
  )

/** @param parts what features add to verifies */
export const verifyDescription = (parts: Parts): EndpointDescription => ({
  id: 'verify',
  topic: VERIFICATION,
  sdkName: 'verify',
  example: {
    user_id: 'ada+match',
    image: EXAMPLE_IMAGE,
    action: { type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' },
    nonce: 'session-1',
  },
  method: 'POST',
  path: '/v1/verify',
  summary: 'Verify a user for an action',
  description:
    'Runs a step-up check at a high-risk action. A rejection is a 200 with `verdict: "rejected"`. Several images are frames of one capture: they must show one person, the usable image of best quality is compared, every usable image must be live, and all are remembered. The same request again within 30 seconds, both with an idempotency key, gets the first answer instead of `replayed_capture`.',
  body: bodyWith(parts),
  success: {
    status: 200,
    description: 'The verdict.',
    schema: new VerdictFields(parts.verify.map(({ fields }) => fields)).schema,
  },
  errors: [
    'reference_not_found',
    'reference_model_mismatch',
    ...errorsOf(parts.verify),
    ...errorsOf(parts.capture),
    ...CAPTURE_ERRORS,
    'different_people',
  ],
  usesEngine: true,
  maxBodyBytes: Number.POSITIVE_INFINITY,
  idempotent: true,
  auditEvent: 'verify',
  scopes: ['verify'],
})

/** An id of ours as nonce would look like a statement of the service: only the hosted page's own verify has one. @throws DomainError invalid_request */
function assertForeignNonce({ input: { nonce }, captureSession }: VerifyCall): void {
  if (nonce === undefined || captureSession || !isOwnId(nonce)) return
  const issue = 'must not have the form of an id of this service; send a random text'
  throw invalidField('nonce', issue)
}

/** @param added what features add to verifies */
export function verify(services: Services, added: Parts): UserEndpoint<VerifyInput> {
  const { verify: parts, capture } = added
  const { vault, store, clock, verdictLifetime, productionKeyIssue } = services
  const works: VerifyWork[] = parts.map((part) => part.create?.(services) ?? {})
  const policy = new DecisionPolicy(services, (call, subject) =>
    works.flatMap((work) => work.alsoEmbed?.(call, subject) ?? []),
  )
  const captures = new Captures(services, capture)
  const kinds = actionKindsOf(parts)
  const spendingErrors = spendingErrorsOf(parts)
  const verdictFields = new VerdictFields(parts.map(({ fields }) => fields))

  return {
    ...verifyDescription(added),
    aboutUser: true,
    async handle(call): Promise<Commit | Outcome> {
      const { input } = call
      assertActionScope(call.scopes, input.action)
      assertForeignNonce(call)
      const pictures = await captures.decode(input)
      const action = canonicalAction(input.action, kinds)
      const opened = await captures.open(call, pictures, { purpose: 'verify', action })
      const note = opened?.note ?? null
      const proofs = await inTurn(works, async (work) => (await work.open?.(call, action, note)) ?? null)
      const brought = [opened, ...proofs.map((proof) => proof?.once)].filter((one) => one != null)
      let finding: Promise<Subject | null> | undefined
      const find = () => (finding ??= vault.find(store.read, call.user.blindIndex, call.user.id))
      const onRefused = async (tx: StoreTransaction, error: DomainError) =>
        Object.assign({}, ...(await inTurn(works, async (work) => work.onRefused?.(tx, call, error))))
      return useUp(
        brought,
        spendingErrors,
        async () => {
          // The device proves itself before the pictures count.
          const found = await inTurn(proofs, async (proof) => (proof ? proof.prove(await find()) : null))
          const possession = found.find((proof) => proof?.possession)?.possession ?? null
          const film = opened?.film ?? null
          const integrity = await captureIntegrity(input, pictures.images, film !== null)
          const evidence = { ...pictures, film, possession, integrity }
          return reachVerdict(call, action, evidence, found, find)
        },
        onRefused,
      )
    },
  }

  /** The terms under the conditions that parts put on the call. */
  async function termsUnder(
    { tenant }: VerifyCall,
    conditionOf: (work: VerifyWork) => Promise<Condition | null> | undefined,
  ): Promise<VerdictTerms> {
    return termsOf(services, tenant, await inTurn(works, async (work) => (await conditionOf(work)) ?? null))
  }

  /**
   * @param action in RFC 8785 canonical form
   * @param proofs what each part of the verify has found
   * @param find reads the user, once for all who ask
   */
  async function reachVerdict(
    call: VerifyCall,
    action: string,
    evidence: VerifyEvidence,
    proofs: readonly unknown[],
    find: () => Promise<Subject | null>,
  ): Promise<Commit> {
    const { tenant } = call
    const asked = await termsUnder(call, (work) => work.prepare?.(call))
    const watched = services.watchers.map((watch) => watch(call, evidence, asked))
    const examination = await policy.examine(call, await find(), evidence, asked)
    for (const one of watched) one.examined(examination)
    const { subject: known } = examination
    const told = await inTurn(works, async (work) => (known && work.about?.(known, call)) ?? null)

    // They stay the same where the transaction runs again because its verdict had to wait for a signature.
    let begun: { verificationId: string; at: number } | undefined
    const furtherTokens = works.map((work) => work.furtherToken?.())
    return async (tx) => {
      const at = begun?.at ?? clock.now()
      const termsInForce = (standing: Standing | null) =>
        termsUnder(call, (work) => work.renew?.(tx, call, standing))
      const verdict = await policy.decide(tx, call, examination, termsInForce, at)
      const { subject, terms, reason, replaySuspected, withheld } = verdict
      const given = works.map((_, index) => proofs[index] ?? terms.conditions[index] ?? told[index])
      const sealedFor = subject && { id: subject.record.id, dataKey: subject.dataKey }
      if (verdict.repeated !== undefined)
        return { status: 200, body: verdict.repeated, isRepeat: true, sealedFor }
      begun ??= { verificationId: prefixedId('ver', at), at }
      const { verificationId } = begun
      const reached: Reached = {
        call,
        verdict,
        ...{ verificationId, at },
        ...verdictLifetime(call.user.id, at),
        issuer: services.issuer(),
        actionHash: actionHash(action),
        digestOf: (text) => (subject ? vault.auditDigest(subject, text) : undefined),
      }
      if (withheld) return { refused: withheld, audit: verdictFields.of('refused', reached, given) }
      const started = performance.now()
      const claims = verdictFields.of('jwt', reached, given)
      const tokens = signVerdict(call, claims)
      for (const [index, tokenOf] of furtherTokens.entries()) if (tokenOf) given[index] = tokenOf(tokens.jwt)
      reached.tokens = tokens
      call.timings.sign = (call.timings.sign ?? 0) + performance.now() - started
      const approved = reason === null
      if (approved && !replaySuspected && subject && isOfType(call.input.action, REPLACE_ACTION))
        await tx.setReplaceVerdict(subject.record.id, { id: verificationId, at })
      const furtherFacts = await inTurn(works, async (work, index) =>
        work.onVerdict?.(tx, call, verdict, given[index], { verificationId, at }),
      )
      await services.verifications.keep(tx, {
        id: verificationId,
        tenantId: tenant.id,
        user: call.user,
        facts: verdictFields.of('kept', reached, given) as unknown as VerificationFacts,
      })
      reached.isKeyIssued = await productionKeyIssue.onVerdict(tx, tenant, { approved, at })
      return {
        status: 200,
        body: verdictFields.of('response', reached, given),
        ...(verdict.waitMs === undefined ? {} : { headers: retryAfter(verdict.waitMs) }),
        observed: verdictFields.of('observed', reached, given) as Observed,
        sealedFor,
        audit: Object.assign(verdictFields.of('audit', reached, given), ...furtherFacts) as AuditFacts,
      }
    }
  }
}
