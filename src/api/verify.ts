/** POST /v1/verify: decides whether a capture shows the user who acts, and signs the verdict for this action as a JWT. */

import Type, { type Static } from 'typebox'
import { PACK_GRADES } from '../../models/pack/grades.js'
import { DISPLAY_LOCALES } from '../contract/locales.js'
import { isOwnId, prefixedId } from '../crypto/identifiers.js'
import { VerdictSignature } from '../crypto/verdict-signer.js'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'
import type { StoreTransaction } from '../storage/store.js'
import { passkeySettings } from '../tenants/passkey-settings.js'
import type { Subject } from '../users/template-vault.js'
import type { ShownDisplay, UserCall } from '../verification/call.js'
import { captureIntegrity } from '../verification/capture-integrity.js'
import {
  type DecisionParts,
  DecisionPolicy,
  type Verdict,
  type VerifyEvidence,
} from '../verification/decision-policy.js'
import { decodeImages } from '../verification/images.js'
import { type LivenessStatement, NOTHING_CHECKED } from '../verification/liveness.js'
import { noteUse } from '../verification/note-use.js'
import { openChallenge } from '../verification/opened-challenge.js'
import {
  openAssertion,
  type PasskeyInput,
  type ProvenPasskey,
  provePossession,
} from '../verification/passkey-proof.js'
import { beginRecovery, cancelByPasskey, RECOVER_ACTION } from '../verification/passkey-recovery.js'
import { policyNotMet } from '../verification/policy-check.js'
import { qualityView } from '../verification/quality-views.js'
import { REASONS } from '../verification/reasons.js'
import { grantRegistration, isOfType, REGISTER_ACTION } from '../verification/registration-permit.js'
import { reportReversedCounter } from '../verification/report-reversed-counter.js'
import { needsSecondApprover } from '../verification/second-approval.js'
import { termsInForce, termsOf } from '../verification/verdict-terms.js'
import { signVerdict, verdictClaims } from '../verification/verdict-token.js'
import type { VerificationFacts } from '../verification/verification-book.js'
import { actionSchema, canonicalAction } from './action.js'
import {
  CAPTURE_ERRORS,
  type Commit,
  type EndpointDescription,
  type Outcome,
  type UserEndpoint,
  VERIFICATION,
} from './endpoint.js'
import { retryAfter } from './error-response.js'
import { includeField, includesQuality } from './include.js'
import { assertActionScope } from './key-scope.js'
import { passkeyFields, provenPasskey } from './passkey-schemas.js'
import { REPLACE_ACTION } from './replace-verdict.js'
import {
  captureIntegrityField,
  EXAMPLE_IMAGE,
  exactlyOneImageField,
  imageFields,
  liveness,
  nullable,
  quality,
  requireLiveness,
  time,
  userId,
} from './schemas.js'
import type { Services } from './services.js'
import { PASSKEY_ERRORS, spendChallenges } from './spend-challenge.js'
import { integrityView, livenessView, scoreView } from './views.js'

const body = Type.Object(
  {
    user_id: userId,
    ...imageFields,
    require_liveness: Type.Optional(requireLiveness),
    ...passkeyFields,
    action: actionSchema,
    approval_id: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'Where the policy of the tenant asks for a second person: the verification id of another user’s verdict on the same action, whose reason is `second_approval_required`. The verdict uses it up.',
      }),
    ),
    nonce: Type.Optional(
      Type.String({
        maxLength: 256,
        description:
          'Echoed in the JWT, so that the caller can tell its own verdict. It must not have the form of an id of this service, such as `cap_…`.',
      }),
    ),
    include: Type.Optional(includeField),
  },
  { title: 'VerifyRequest', additionalProperties: false, ...exactlyOneImageField },
)

const displayed = Type.Object(
  {
    hash: Type.String({
      description: 'SHA-256 of the text in RFC 8785 canonical form, in lower-case hex.',
    }),
    locale: Type.Union(
      DISPLAY_LOCALES.map((language) => Type.Literal(language)),
      { description: 'Language of the text.' },
    ),
    version: Type.String({ description: 'Version of the template.' }),
    source: nullable(
      Type.Literal('challenge', {
        description:
          'Your own page was given the text with the challenge. Null where the hosted page showed it.',
      }),
    ),
  },
  { title: 'DisplayedText', description: 'Identifies the text that a person was shown.' },
)

const success = Type.Object(
  {
    verification_id: Type.String({ description: 'The `jti` of the JWT.' }),
    user_id: userId,
    verdict: Type.Union([Type.Literal('approved'), Type.Literal('rejected')]),
    reason: nullable(Type.Union(REASONS.map((reason) => Type.Literal(reason)))),
    score: nullable(
      Type.Number({
        description: 'Similarity; higher is more alike. Null when the images were not compared.',
      }),
    ),
    threshold: Type.Number({ description: 'Lowest score that is approved.' }),
    fmr: Type.Number({
      description:
        'False match rate that the threshold reached on calibration data. It may differ from the configured one.',
    }),
    fmr_basis: Type.Union([Type.Literal('measured'), Type.Literal('extrapolated')], {
      description:
        'Basis of `fmr`: `extrapolated` where nobody has measured the rate and the operator accepted that.',
    }),
    model_grade: Type.Union(
      PACK_GRADES.map((grade) => Type.Literal(grade)),
      {
        description:
          'Grade of the model pack at this rate: `production` where the rate was measured on everybody and in each group of people; `ungrouped` where the data name no groups; else `evaluation`.',
      },
    ),
    liveness,
    quality: nullable(quality),
    replay: Type.Object(
      { suspected: Type.Boolean() },
      { description: 'Whether the capture was seen before within 24 hours.' },
    ),
    capture_integrity: Type.Union([captureIntegrityField, Type.Null()], {
      description: 'Null where no report was sent.',
    }),
    model: Type.String(),
    display: Type.Union([displayed, Type.Null()], {
      description:
        'The text that the hosted page showed the person for a typed action, or that your own page was given with the challenge. Null where there is none.',
    }),
    verified_at: time('When the verdict was reached.'),
    jwt: Type.String({ description: 'The verdict, signed with the signing secret that the caller holds.' }),
    jwt_next: nullable(
      Type.String({
        description: 'During a rotation overlap: the same claims under the new secret. Null otherwise.',
      }),
    ),
    jwt_public: Type.String({
      description:
        'The same claims under a key of the issuer (ES256). Anyone can check it with the keys at `/v1/.well-known/jwks.json`, and nobody else can make it.',
    }),
    jwt_expires_at: time('When the JWT expires.'),
    policy_hash: nullable(
      Type.String({
        description: 'SHA-256 of the policy that was in force. Null where the tenant has none.',
      }),
    ),
    policy_rule: nullable(
      Type.String({
        description:
          'Name of the rule of the policy that decided about this action. Null where the tenant has none.',
      }),
    ),
    approval_id: nullable(Type.String({ description: 'Other user’s verdict that it has used up.' })),
    production_key: nullable(
      Type.Literal('issued', {
        description: 'Sandbox only: this verify cleared and issued the production key. Null otherwise.',
      }),
    ),
    passkey: Type.Union([provenPasskey, Type.Null()], {
      description: 'The passkey that has signed; null where no `passkey_assertion` was sent.',
    }),
  },
  { title: 'VerifyResult' },
)

export const verifyDescription: EndpointDescription = {
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
  body,
  success: { status: 200, description: 'The verdict.', schema: success },
  errors: [
    'reference_not_found',
    'reference_model_mismatch',
    'policy_not_met',
    'passkey_required',
    ...PASSKEY_ERRORS,
    ...CAPTURE_ERRORS,
    'different_people',
  ],
  usesEngine: true,
  answersWithSecret: false,
  idempotent: true,
  auditEvent: 'verify',
  answersWithoutStore: false,
  scopes: ['verify'],
}

type Input = Omit<Static<typeof body>, 'passkey_assertion'> & PasskeyInput

/** A verdict on its way to its signature. */
interface Signing {
  /** Time of the verdict, in milliseconds since the Unix epoch. */
  at: number
  verificationId: string
  signature: VerdictSignature
}

/** An id of ours as nonce would look like a statement of the service: only the hosted page's own verify has one. @throws DomainError invalid_request */
function assertForeignNonce({ input: { nonce }, captureSession }: UserCall<Input>): void {
  if (nonce === undefined || captureSession || !isOwnId(nonce)) return
  const issue = 'must not have the form of an id of this service; send a random text'
  throw new DomainError('invalid_request', { details: [{ path: 'nonce', issue }] })
}

/** The parts of the service that a verify uses. */
type Parts = DecisionParts &
  Pick<
    Services,
    | 'challenges'
    | 'passkeys'
    | 'passkeyChecks'
    | 'config'
    | 'issuer'
    | 'verdictSigner'
    | 'verdictLifetime'
    | 'productionKeyIssue'
    | 'verifications'
    | 'policies'
    | 'shadow'
  >

export function verify(services: Parts): UserEndpoint<Input> {
  const { vault, clock, store, secondApproval, verdictLifetime, productionKeyIssue } = services
  const policy = new DecisionPolicy(services)

  return {
    ...verifyDescription,
    aboutUser: true,
    async handle(asked): Promise<Commit | Outcome> {
      const { input } = asked
      assertActionScope(asked.scopes, input.action)
      assertForeignNonce(asked)
      const images = await decodeImages(input)
      const action = canonicalAction(input.action)
      const opened = await openChallenge(services, asked, { purpose: 'verify', action })
      const call = { ...asked, display: asked.display ?? opened?.challenge.display ?? undefined }
      const assertion = await openAssertion(services, call, action)
      const used = [opened?.challenge, assertion?.challenge].filter((one) => one != null)
      const onRefused = (tx: StoreTransaction, error: DomainError) =>
        reportReversedCounter(services, tx, call, error)
      return spendChallenges(
        services.challenges,
        used,
        async () => {
          // The device proves itself before the pictures count.
          const passkey = assertion && (await provePossession(services, call, assertion))
          const possession = passkey?.possession ?? null
          const integrity = await captureIntegrity(input, images)
          const evidence = { images, challenge: opened?.frames ?? null, possession, integrity }
          return reachVerdict(call, action, evidence, passkey)
        },
        onRefused,
      )
    },
  }

  /** @param action in RFC 8785 canonical form */
  async function reachVerdict(
    call: UserCall<Input>,
    action: string,
    evidence: VerifyEvidence,
    passkey: ProvenPasskey | null,
  ): Promise<Commit> {
    const { input, tenant } = call
    const asked = await termsOf(services, store.read, call)
    const shadowed = services.shadow?.watch(call, evidence, asked)
    const examination = await policy.examine(call, evidence, asked)
    shadowed?.examined(examination)
    const { integrity } = evidence

    // They stay the same where the transaction runs again because its verdict had to wait for a signature.
    let signing: Signing | undefined
    return async (tx) => {
      const at = signing?.at ?? clock.now()
      const termsUnder = (hash: string | null) => termsInForce(services, tx, call, asked, hash)
      const verdict = await policy.decide(tx, call, examination, termsUnder, at)
      const { subject, terms, reason, replaySuspected, effect, unmet } = verdict
      if (verdict.repeated !== undefined)
        return { status: 200, body: verdict.repeated, isRepeat: true, sealedFor: sealedFor(subject) }
      if (unmet.length > 0)
        return {
          refused: policyNotMet(terms, unmet),
          audit: {
            ...policyView(call, verdict),
            ...integrityView(integrity),
            ...(subject ? { subject: subject.pseudonym } : {}),
          },
        }
      await passkey?.use(tx)
      const view = { ...verdictView(verdict), ...policyView(call, verdict) }
      signing ??= { at, verificationId: prefixedId('ver', at), signature: new VerdictSignature() }
      const signed = sign(call, action, { verdict, view, passkey, signing })
      const { verificationId } = signed
      const approved = reason === null
      const assessed = verdict.comparison?.sample.assessed ?? null
      if (approved && !replaySuspected && subject && isOfType(input.action, REPLACE_ACTION))
        await tx.setReplaceVerdict(subject.record.id, { id: verificationId, at })
      const recovery =
        approved && !replaySuspected && subject
          ? await permitPasskeys(tx, call, verdict, passkey, { verificationId, at })
          : {}
      const facts = {
        ...view,
        acr: signed.acr,
        model: terms.model,
        replay_suspected: replaySuspected,
        ...(input.challenge ? { challenge_id: input.challenge.challenge_id } : {}),
      }
      await services.verifications.keep(tx, {
        id: verificationId,
        tenantId: tenant.id,
        user: call.user,
        actionHash: signed.actionHash,
        displayHash: call.display?.hash,
        facts: {
          ...facts,
          ...integrityView(integrity),
          ...(passkey ? { passkey_amr: passkey.possession } : {}),
          ...(call.display
            ? { display_locale: call.display.locale, display_version: call.display.version }
            : {}),
          request_id: call.requestId,
          ...(call.captureSession ? { capture_session: call.captureSession.id } : {}),
        },
      })
      if (subject && terms.policy?.erasesUnused && (approved || reason === 'second_approval_required'))
        await noteUse(vault, tx, call, subject, at)
      if (reason === 'second_approval_required' && !replaySuspected)
        await secondApproval.keep(tx, call, terms, { verificationId, at })
      const isKeyIssued = await productionKeyIssue.onVerdict(tx, tenant, { approved, at })
      return {
        status: 200,
        body: {
          verification_id: verificationId,
          user_id: input.user_id,
          verdict: view.verdict,
          reason,
          score: view.score,
          threshold: view.threshold,
          fmr: view.fmr,
          fmr_basis: view.fmr_basis,
          model_grade: view.model_grade,
          liveness: livenessView(livenessOf(verdict)),
          quality: assessed && qualityView([assessed], input, includesQuality(input)),
          replay: { suspected: replaySuspected },
          capture_integrity: integrity,
          model: terms.model,
          display: call.display ? { ...call.display, source: call.display.source ?? null } : null,
          verified_at: isoTime(at),
          jwt: signed.tokens.jwt,
          jwt_next: signed.tokens.jwt_next,
          jwt_public: signed.tokens.jwt_public,
          jwt_expires_at: isoTime(signed.expiresAt * SECOND_MS),
          policy_hash: view.policy_hash ?? null,
          policy_rule: view.policy_rule ?? null,
          approval_id: view.approval_id ?? null,
          production_key: isKeyIssued ? 'issued' : null,
          passkey: passkey && { passkey_id: passkey.id, amr: passkey.possession },
        },
        ...(verdict.waitMs === undefined ? {} : { headers: retryAfter(verdict.waitMs) }),
        observed: {
          verdict: view.verdict,
          reason,
          score: view.score,
          effect,
          ...integrity,
          ...{
            threshold: view.threshold,
            quality: assessed?.quality.score ?? null,
            model: verdict.terms.model,
          },
        },
        sealedFor: sealedFor(subject),
        audit: {
          ...facts,
          ...(subject
            ? {
                subject: subject.pseudonym,
                action_hash: vault.auditDigest(subject, signed.actionHash),
                ...displayAudit(subject, call.display),
              }
            : {}),
          verification_id: verificationId,
          liveness_score: livenessOf(verdict).score,
          ...integrityView(integrity),
          ...(verdict.followed ? { reference_followed: verdict.followed } : {}),
          ...(verdict.aged ? { reference_aged: { similarity: scoreView(verdict.aged.similarity) } } : {}),
          ...(passkey ? { passkey_id: passkey.id, passkey_amr: passkey.possession } : {}),
          ...(passkey?.becameSynced ? { passkey_became_synced: true } : {}),
          ...recovery,
          ...livenessAudit(livenessOf(verdict)),
        },
      }
    }
  }

  /** The digest is keyed as that of the action, so that nobody can check a guess at the text after an erasure. */
  function displayAudit(subject: Subject, display: ShownDisplay | undefined) {
    return display
      ? {
          display_hash: vault.auditDigest(subject, display.hash),
          display_locale: display.locale,
          display_version: display.version,
        }
      : {}
  }

  /**
   * Keeps an approval for what it allows or ends: the registration of a passkey, and a recovery.
   * @returns facts for the audit entry
   */
  async function permitPasskeys(
    tx: StoreTransaction,
    { input, tenant, environment, user }: UserCall<Input>,
    verdict: Verdict,
    passkey: ProvenPasskey | null,
    { verificationId, at }: { verificationId: string; at: number },
  ) {
    const isRegistration = isOfType(input.action, REGISTER_ACTION)
    const possession = passkey?.possession ?? null
    const mayCancel = possession !== null && verdict.subject!.record.passkeyRecovery !== null
    const isAsked = isRegistration || isOfType(input.action, RECOVER_ACTION)
    const settings = isAsked || mayCancel ? passkeySettings(tenant) : null
    if (!settings) return {}
    const isLive = livenessOf(verdict).passed === true
    const { blindIndex } = user
    if (isRegistration && (isLive || settings.registration === 'backend'))
      await grantRegistration(
        tx,
        { tenantId: tenant.id, environment, blindIndex },
        verificationId,
        possession,
        at,
      )
    const isRecovery = isLive && isOfType(input.action, RECOVER_ACTION)
    if (!isRecovery && !mayCancel) return {}
    const subject = (await vault.find(tx, blindIndex, user.id))!
    const recovering = { tenantId: tenant.id, environment, userId: user.id, subject }
    return isRecovery
      ? beginRecovery(tx, services, settings, recovering, { verificationId, at })
      : cancelByPasskey(tx, services, settings, recovering, possession!)
  }

  /** Gives a verdict its times, and signs it as JWTs. @throws SignatureAwaited */
  function sign(
    call: UserCall<Input>,
    action: string,
    {
      verdict,
      view,
      passkey,
      signing: { at, verificationId, signature },
    }: {
      verdict: Verdict
      view: ReturnType<typeof verdictView> & ReturnType<typeof policyView>
      passkey: ProvenPasskey | null
      signing: Signing
    },
  ) {
    const { issuedAt, expiresAt } = verdictLifetime(call.user.id, at)
    const claims = verdictClaims({
      ...view,
      call,
      issuer: services.issuer(),
      verificationId,
      issuedAt,
      expiresAt,
      action,
      liveness: livenessView(livenessOf(verdict)),
      challengeId: call.input.challenge?.challenge_id,
      passkey,
      model: verdict.terms.model,
      replaySuspected: verdict.replaySuspected,
    })
    const started = performance.now()
    const tokens = signVerdict(call, claims, services.verdictSigner(), signature)
    call.timings.sign = (call.timings.sign ?? 0) + performance.now() - started
    return { verificationId, expiresAt, actionHash: claims.action_hash, acr: claims.acr, tokens }
  }
}

function sealedFor(subject: Subject | null): NonNullable<Outcome['sealedFor']> | null {
  return subject && { id: subject.record.id, dataKey: subject.dataKey }
}

/** The policy behind a verdict, for response, JWT and audit entry; empty where the tenant has none. */
function policyView(
  { input }: UserCall<Input>,
  { terms, reason }: Verdict,
): Pick<VerificationFacts, 'policy_hash' | 'policy_rule' | 'approval_id'> {
  const { policy } = terms
  if (!policy) return {}
  const approved = reason === null && needsSecondApprover(terms)
  return {
    policy_hash: policy.hash,
    policy_rule: policy.rule.name,
    ...(approved && input.approval_id !== undefined ? { approval_id: input.approval_id } : {}),
  }
}

/** The fields of a verdict that response, JWT and audit entry have in common. */
function verdictView({ reason, comparison, terms }: Verdict) {
  const { threshold, fmr, basis, grade } = terms.point
  const score = comparison?.score ?? null
  return {
    verdict: reason === null ? ('approved' as const) : ('rejected' as const),
    reason,
    score: score === null ? null : scoreView(score),
    threshold: scoreView(threshold),
    fmr,
    fmr_basis: basis,
    model_grade: grade,
  }
}

function livenessOf({ comparison }: Verdict): LivenessStatement {
  return comparison?.sample.liveness ?? NOTHING_CHECKED
}

/** Facts for the audit log: the methods that judged liveness, and the findings of a challenge that failed. */
function livenessAudit({ methods, guidance, findings }: LivenessStatement): Record<string, unknown> {
  return {
    ...(methods.length > 0 ? { liveness_methods: methods } : {}),
    ...(guidance ? { liveness_guidance: guidance } : {}),
    ...(findings ? { liveness_findings: findings } : {}),
  }
}
