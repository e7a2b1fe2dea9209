/** POST /v1/verify: is this really that person, for this action? The verdict is a JWT. */

import Type, { type Static } from 'typebox'
import type { FmrBasis } from '../../models/pack/model-pack.js'
import type { PackGrade } from '../../models/pack/pack-grade.js'
import { prefixedId } from '../crypto/identifiers.js'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import type { StoreTransaction } from '../storage/store.js'
import type { OperatingPoint } from '../verification/biometric-provider.js'
import { DecisionPolicy, type Verdict } from '../verification/decision-policy.js'
import { decodeImages } from '../verification/images.js'
import { type LivenessStatement, NOTHING_CHECKED } from '../verification/liveness.js'
import { type OpenedChallenge, openChallenge } from '../verification/opened-challenge.js'
import { REASONS, type Reason } from '../verification/reasons.js'
import { signVerdict, verdictClaims } from '../verification/verdict-token.js'
import { actionSchema, canonicalAction } from './action.js'
import { usingUp } from './challenge-input.js'
import type { Call, Commit, Endpoint, EndpointDescription, Outcome } from './endpoint.js'
import { retryAfter } from './error-response.js'
import { agreesToReplacement } from './replace-verdict.js'
import {
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
import { livenessView, qualityView, scoreView } from './views.js'

const body = Type.Object(
  {
    user_id: userId,
    ...imageFields,
    require_liveness: Type.Optional(requireLiveness),
    action: actionSchema,
    nonce: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Echoed in the JWT, so that the caller can tell its own verdict.',
      }),
    ),
  },
  { title: 'VerifyRequest', additionalProperties: false, ...exactlyOneImageField },
)

const success = Type.Object(
  {
    verification_id: Type.String({ description: 'The `jti` of the JWT.' }),
    user_id: userId,
    verdict: Type.Union([Type.Literal('approved'), Type.Literal('rejected')]),
    reason: nullable(Type.Union(REASONS.map((reason) => Type.Literal(reason)))),
    score: nullable(
      Type.Number({
        description: 'Similarity, higher is more alike; null when the images were not compared.',
      }),
    ),
    threshold: Type.Number({ description: 'The score from which on the verdict is approved.' }),
    fmr: Type.Number({
      description:
        'The false match rate that the threshold has reached on calibration data; not always the one that was asked for.',
    }),
    fmr_basis: Type.Union([Type.Literal('measured'), Type.Literal('extrapolated')], {
      description:
        'What stands behind `fmr`: `extrapolated` where nobody has measured it and the operator accepted that.',
    }),
    model_grade: Type.Union([Type.Literal('production'), Type.Literal('evaluation')], {
      description:
        'What the model pack is good for at this rate: `production` where the rate was measured on everybody and in each group that the data names.',
    }),
    liveness,
    quality: nullable(quality),
    replay: Type.Object(
      { suspected: Type.Boolean() },
      { description: 'The capture was seen before within 24 hours.' },
    ),
    model: Type.String(),
    verified_at: time('When the verdict was reached.'),
    jwt: Type.String({ description: 'The verdict, signed with the signing secret that the caller holds.' }),
    jwt_next: Type.Optional(
      Type.String({ description: 'During a rotation overlap: the same claims under the new secret.' }),
    ),
    jwt_expires_at: time('When the JWT expires.'),
    production_key: Type.Optional(
      Type.Literal('issued', {
        description: 'Sandbox only: this verify cleared and issued the production key.',
      }),
    ),
  },
  { title: 'VerifyResult' },
)

export const verifyDescription: EndpointDescription = {
  id: 'verify',
  method: 'POST',
  path: '/v1/verify',
  summary: 'Verify a user for an action',
  description:
    'Runs a step-up check at a high-risk action. A rejection is a 200 with `verdict: "rejected"`; several images are frames of one capture: they must show one person, the usable one of best quality is compared, every usable one must be live, and all are remembered.',
  body,
  success: { status: 200, description: 'The verdict.', schema: success },
  errors: [
    'reference_not_found',
    'reference_model_mismatch',
    'challenge_not_found',
    'challenge_used',
    'challenge_expired',
    'challenge_mismatch',
    'liveness_required',
    'liveness_unavailable',
    'image_unreadable',
    'image_too_large',
    'image_too_small',
    'face_not_found',
    'multiple_faces',
    'face_too_small',
    'low_quality',
    'different_people',
  ],
  usesEngine: true,
  answersWithSecret: false,
  idempotent: true,
  auditEvent: 'verify',
  answersWithoutStore: false,
  scopes: ['verify'],
}

type Input = Static<typeof body>

/** What response, JWT and audit entry say alike. */
interface Decision {
  verdict: 'approved' | 'rejected'
  reason: Reason | null
  score: number | null
  threshold: number
  fmr: number
  fmr_basis: FmrBasis
  model_grade: PackGrade
}

export function verify(services: Services): Endpoint<Input> {
  const { vault, provider, clock, config } = services
  const judge = new DecisionPolicy(services)

  /** Names, dates and signs a verdict. */
  function sign(call: Call<Input>, action: string, verdict: Verdict, decision: Decision, at: number) {
    const verificationId = prefixedId('ver', at)
    const expired = provider.script?.(call.input.user_id).expired
    const issuedAt = Math.floor(at / SECOND_MS) - (expired ? 2 * config.jwtTtlSeconds : 0)
    const expiresAt = issuedAt + config.jwtTtlSeconds
    const claims = verdictClaims({
      ...decision,
      call,
      issuer: services.issuer(),
      verificationId,
      issuedAt,
      expiresAt,
      action,
      liveness: livenessView(livenessOf(verdict)),
      challengeId: call.input.challenge?.id,
      model: provider.model,
      replaySuspected: verdict.replaySuspected,
    })
    const started = performance.now()
    const tokens = signVerdict(call, claims)
    call.timings.sign = performance.now() - started
    return { verificationId, expiresAt, actionHash: claims.action_hash, tokens }
  }

  return {
    ...verifyDescription,
    async handle(call): Promise<Commit | Outcome> {
      const { input, tenant, environment } = call
      const blindIndex = vault.blindIndex(tenant.id, environment, input.user_id)
      call.user = { id: input.user_id, blindIndex }
      const images = await decodeImages(input)
      const action = canonicalAction(input.action)
      const opened = await openChallenge(services, call, { blindIndex, purpose: 'verify', action })
      return usingUp(services, opened, call, () => reach(call, { images, opened, action, blindIndex }))
    },
  }

  /** The verdict, and what makes it true. */
  async function reach(
    call: Call<Input>,
    capture: { images: Buffer[]; opened: OpenedChallenge | null; action: string; blindIndex: Buffer },
  ): Promise<Commit> {
    const { input, tenant, environment } = call
    const { images, opened, action, blindIndex } = capture
    const point = provider.operatingPoint(tenant.fmr ?? config.fmr)
    const examination = await judge.examine(call, blindIndex, { images, opened }, point.threshold)
    const { model } = provider

    return async (tx) => {
      const at = clock.now()
      const verdict = await judge.decide(tx, call, examination, at)
      const { subject, reason, replaySuspected, effect } = verdict
      const decision = decisionOf(verdict, point)
      const { verificationId, expiresAt, actionHash, tokens } = sign(call, action, verdict, decision, at)
      if (reason === null && !replaySuspected && subject && agreesToReplacement(input.action))
        await tx.setReplaceVerdict(subject.record.id, { id: verificationId, at })
      // What was issued stays so: after that there is no need to ask.
      const clears = environment === 'sandbox' && reason === null && tenant.productionIssuedAt === null
      const issued = clears && (await issueProductionKey(tx, tenant.id, at))
      return {
        status: 200,
        body: {
          verification_id: verificationId,
          user_id: input.user_id,
          ...decision,
          ...measurements(verdict),
          replay: { suspected: replaySuspected },
          model,
          verified_at: isoTime(at),
          ...tokens,
          jwt_expires_at: isoTime(expiresAt * SECOND_MS),
          ...(issued ? { production_key: 'issued' } : {}),
        },
        ...(verdict.waitMs === undefined ? {} : { headers: retryAfter(verdict.waitMs) }),
        observed: { verdict: decision.verdict, reason, score: decision.score, effect },
        owner: { blindIndex, subject: subject && { id: subject.record.id, dataKey: subject.dataKey } },
        audit: {
          ...(subject
            ? { subject: subject.pseudonym, action_hash: vault.auditDigest(subject, actionHash) }
            : {}),
          verification_id: verificationId,
          ...decision,
          model,
          replay_suspected: replaySuspected,
          liveness_score: livenessOf(verdict).score,
          ...(opened ? { challenge_id: opened.challenge.id } : {}),
          ...livenessAudit(livenessOf(verdict)),
        },
      }
    }
  }
}

function decisionOf(verdict: Verdict, { threshold, fmr, basis, grade }: OperatingPoint): Decision {
  const { reason } = verdict
  return {
    verdict: reason === null ? 'approved' : 'rejected',
    reason,
    score: scoreOf(verdict),
    threshold: scoreView(threshold),
    fmr,
    fmr_basis: basis,
    model_grade: grade,
  }
}

function livenessOf({ comparison }: Verdict): LivenessStatement {
  return comparison?.sample.liveness ?? NOTHING_CHECKED
}

function scoreOf({ comparison }: Verdict): number | null {
  return comparison === null || comparison.score === null ? null : scoreView(comparison.score)
}

function measurements(verdict: Verdict): Record<string, unknown> {
  const quality = verdict.comparison?.sample.quality ?? null
  return { liveness: livenessView(livenessOf(verdict)), quality: quality && qualityView(quality) }
}

/** By what liveness was judged, and what a challenge that failed looked like. */
function livenessAudit({ methods, guidance, findings }: LivenessStatement): Record<string, unknown> {
  return {
    ...(methods.length > 0 ? { liveness_methods: methods } : {}),
    ...(guidance ? { liveness_guidance: guidance } : {}),
    ...(findings ? { liveness_findings: findings } : {}),
  }
}

/**
 * The first verify that a tenant's sandbox approves. Resolves with whether this is the one. No audit entry: sandbox calls
 * write none, and the log begins when the operator reveals the key.
 */
async function issueProductionKey(tx: StoreTransaction, tenantId: string, at: number): Promise<boolean> {
  const tenant = await tx.tenantById(tenantId)
  if (tenant?.productionIssuedAt !== null) return false
  await tx.setProductionIssued(tenantId, at)
  return true
}
