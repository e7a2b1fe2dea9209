/** POST /v1/verify: is this really that person, for this action? The verdict is a JWT. */
import Type, { type Static } from 'typebox'
import { ApiError, retryAfter } from '../api-error.js'
import { isoTime, SECOND_MS } from '../clock.js'
import { prefixedId } from '../crypto/identifiers.js'
import { canonicalJson } from '../crypto/verification-jwt.js'
import { afterRejection, CLEAR, isChanged, lockoutBegun, lockoutReason } from '../subjects/lockout.js'
import type { Subject } from '../subjects/subject-vault.js'
import type { Call, Commit, Effect, Endpoint, EndpointDescription } from './endpoint.js'
import { decodeImages } from './images.js'
import type { Comparison } from './recogniser.js'
import { type Capture, CapturesUnderWay, isReplay, rememberCaptures } from './replays.js'
import { exactlyOneImageField, imageFields, liveness, nullable, quality, time, userId } from './schemas.js'
import type { Services } from './services.js'
import { REASONS, type Reason, signVerdict, verdictClaims } from './verdict-token.js'
import { livenessView, qualityView, scoreView } from './views.js'

const MAX_ACTION_BYTES = 4096

/** NIST SP 800-63B-4, section 3.2.3: attempts before a delay, without and with presentation attack detection. */
const ATTEMPTS = { withoutLiveness: 5, withLiveness: 10 }

const body = Type.Object(
  {
    user_id: userId,
    ...imageFields,
    action: Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
      description: `What is to be countersigned, such as the transfer's amount and payee: an object or a string, at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form.`,
      examples: [{ type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }],
    }),
    nonce: Type.Optional(
      Type.String({
        maxLength: 256,
        description: 'Echoed in the JWT, so that the caller can tell its own verdict.',
      }),
    ),
  },
  { additionalProperties: false, ...exactlyOneImageField },
)

const success = Type.Object({
  verification_id: Type.String({ description: 'The `jti` of the JWT.' }),
  user_id: userId,
  verdict: Type.Union([Type.Literal('approved'), Type.Literal('rejected')]),
  reason: nullable(Type.Union(REASONS.map((reason) => Type.Literal(reason)))),
  score: nullable(
    Type.Number({ description: 'Similarity, higher is more alike; null when the images were not compared.' }),
  ),
  threshold: Type.Number({ description: 'The score from which on the verdict is approved.' }),
  fmr: Type.Number({ description: 'The false match rate that the threshold stands for.' }),
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
})

export const verifyDescription: EndpointDescription = {
  id: 'verify',
  method: 'POST',
  path: '/v1/verify',
  summary: 'Verify a user for an action',
  description:
    'Runs a step-up check at a high-risk action. A rejection is a 200 with `verdict: "rejected"`; of several images the best usable one counts.',
  body,
  success: { status: 200, description: 'The verdict.', schema: success },
  errors: [
    'reference_not_found',
    'reference_model_mismatch',
    'image_unreadable',
    'image_too_large',
    'image_too_small',
    'face_not_found',
    'multiple_faces',
    'face_too_small',
    'low_quality',
  ],
  usesEngine: true,
  idempotent: true,
  audited: true,
}

type Input = Static<typeof body>

interface Verdict {
  reason: Reason | null
  comparison: Comparison | null
  replaySuspected: boolean
  /** To be remembered. */
  capture: Capture | null
  /** While locked out. */
  retryAfterMs?: number
}

export function verify(services: Services): Endpoint<Input> {
  const { vault, store, recogniser, clock, config } = services
  const underWay = new CapturesUnderWay(recogniser)
  const attempts =
    config.lockoutAttempts ?? (recogniser.checksLiveness ? ATTEMPTS.withLiveness : ATTEMPTS.withoutLiveness)

  /** Null only for a sandbox user whose outcome is scripted. */
  async function findSubject({ input, environment }: Call<Input>, lookup: Buffer): Promise<Subject | null> {
    const subject = await vault.find(store.read, lookup, input.user_id)
    if (subject?.reference && subject.reference.model !== recogniser.model)
      throw new ApiError('reference_model_mismatch', {
        message: `The reference was made with model ${subject.reference.model}; ${environment} runs ${recogniser.model}.`,
      })
    if (!subject?.reference && !recogniser.isScripted(input.user_id))
      throw new ApiError('reference_not_found')
    return subject
  }

  /** Takes one of the user's attempts for the length of this request. */
  async function takeAttempt(call: Call<Input>, lookup: Buffer): Promise<void> {
    if (attempts === 0 || recogniser.synthetic) return
    const attemptsLeft = async () => {
      const found = await store.read.subject(lookup)
      return attempts - (found?.subject.failures ?? 0)
    }
    call.defer(await services.gate.enter(lookup.toString('latin1'), attemptsLeft, call))
  }

  /** All that can be computed of a capture before its embedding is there. */
  function prepareCapture(
    subject: Subject,
    images: Buffer[],
    { length: dimensions }: Float32Array,
  ): Pick<Capture, 'digests'> {
    subject.captureTransform(dimensions)
    return { digests: images.map((image) => vault.captureDigest(subject, image)) }
  }

  /** Enters the capture as under way until the request ends. @returns whether one like it was seen before */
  async function suspectReplay(call: Call<Input>, subject: Subject, capture: Capture): Promise<boolean> {
    const entered = underWay.enter(subject, capture)
    call.defer(entered.leave)
    return entered.isReplay || (await isReplay(services, store.read, subject, capture))
  }

  async function judge(
    call: Call<Input>,
    subject: Subject | null,
    images: Buffer[],
    fmr: number,
    threshold: number,
  ): Promise<Verdict> {
    const now = clock.now()
    const locked = subject && !recogniser.synthetic ? lockoutReason(subject.record, now) : null
    if (locked)
      return {
        reason: locked,
        comparison: null,
        replaySuspected: false,
        capture: null,
        ...(locked === 'locked_out' ? { retryAfterMs: subject!.record.lockedUntil! - now } : {}),
      }
    const reference = subject?.reference
      ? vault.openReference(subject, subject.reference).embedding
      : new Float32Array(0)
    const comparing = recogniser.verify(call.input.user_id, images, reference, fmr, call)
    // Here and not when it is needed: meanwhile the engine computes.
    const prepared = subject && !recogniser.synthetic ? prepareCapture(subject, images, reference) : null
    const comparison = await comparing
    Object.assign(call.timings, comparison.timings)
    const capture = prepared ? { ...prepared, embedding: comparison.embedding } : null
    const replaySuspected = capture ? await suspectReplay(call, subject!, capture) : false
    let reason: Reason | null = null
    if (comparison.liveness.passed === false) reason = 'liveness_failed'
    else if (comparison.score < threshold) reason = 'no_match'
    else if (replaySuspected && config.replayPolicy === 'reject') reason = 'replayed_capture'
    return { reason, comparison, replaySuspected, capture }
  }

  return {
    ...verifyDescription,
    async handle(call): Promise<Commit> {
      const { input, tenant, environment } = call
      const images = decodeImages(input)
      const action = canonicalAction(input.action)
      const lookup = vault.lookup(tenant.id, environment, input.user_id)
      call.lookup = lookup
      const fmr = tenant.fmr ?? config.fmr
      const threshold = recogniser.threshold(fmr)
      await takeAttempt(call, lookup)
      const subject = await findSubject(call, lookup)
      const verdict = await judge(call, subject, images, fmr, threshold)
      const { reason, comparison, replaySuspected } = verdict
      const approved = reason === null

      const now = clock.now()
      const issuedAt = Math.floor(now / SECOND_MS)
      const expiresAt = issuedAt + config.jwtTtlSeconds
      const verificationId = prefixedId('ver', now)
      const score = comparison ? scoreView(comparison.score) : null
      const claims = verdictClaims({
        call,
        issuer: services.issuer(),
        verificationId,
        issuedAt,
        expiresAt,
        reason,
        score,
        fmr,
        action,
        livenessChecked: comparison?.liveness.checked ?? false,
        model: recogniser.model,
        replaySuspected,
      })
      const signStarted = performance.now()
      const tokens = signVerdict(call, claims)
      call.timings.sign = performance.now() - signStarted

      return async (tx) => {
        let effect: Effect | undefined
        if (subject) {
          const fresh = await tx.subject(lookup)
          // Erased, or erased and enrolled anew, while this verify ran: its verdict is about nobody.
          if (fresh?.subject.id !== subject.record.id) throw new ApiError('reference_not_found')
          if (verdict.capture) {
            const state = approved ? CLEAR : afterRejection(fresh.subject, attempts, now)
            if (isChanged(fresh.subject, state)) await tx.setLockout(subject.record.id, state)
            effect = lockoutBegun(fresh.subject, state)
            const { digests, embedding } = verdict.capture
            await rememberCaptures(services, tx, subject, digests, [embedding])
          }
        }
        let issued = false
        if (environment === 'sandbox' && approved) {
          const fresh = await tx.tenantById(tenant.id)
          issued = fresh?.productionIssuedAt === null
          // No audit entry: sandbox calls write none; the log begins when the operator reveals the key.
          if (issued) await tx.setProductionIssued(tenant.id, now)
        }
        return {
          status: 200,
          body: {
            verification_id: verificationId,
            user_id: input.user_id,
            verdict: claims.verdict,
            reason,
            score,
            threshold: scoreView(threshold),
            fmr,
            liveness: comparison
              ? livenessView(comparison.liveness)
              : { checked: false, score: null, passed: null },
            quality: comparison ? qualityView(comparison.quality) : null,
            replay: { suspected: replaySuspected },
            model: recogniser.model,
            verified_at: isoTime(now),
            ...tokens,
            jwt_expires_at: isoTime(expiresAt * SECOND_MS),
            ...(issued ? { production_key: 'issued' } : {}),
          },
          ...(verdict.retryAfterMs === undefined
            ? {}
            : { headers: retryAfter(verdict.retryAfterMs / SECOND_MS) }),
          effect,
          owner: { lookup, subject: subject && { id: subject.record.id, dataKey: subject.dataKey } },
          audit: {
            ...(subject ? { subject: subject.pseudonym } : {}),
            verification_id: verificationId,
            verdict: claims.verdict,
            reason,
            score,
            threshold: scoreView(threshold),
            fmr,
            model: recogniser.model,
            action_hash: claims.action_hash,
            replay_suspected: replaySuspected,
            liveness_score: comparison?.liveness.score ?? null,
          },
        }
      }
    },
  }
}

/** @throws ApiError invalid_request when the action is too long or no I-JSON (RFC 7493: a number out of range) */
function canonicalAction(action: unknown): string {
  const refuse = (issue: string) => new ApiError('invalid_request', { details: [{ path: 'action', issue }] })
  let canonical: string
  try {
    canonical = canonicalJson(action)
  } catch {
    throw refuse('has no RFC 8785 canonical form: it holds a number out of range or is nested too deeply')
  }
  if (Buffer.byteLength(canonical) > MAX_ACTION_BYTES)
    throw refuse(`must be at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form`)
  return canonical
}
