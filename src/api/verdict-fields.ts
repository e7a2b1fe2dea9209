/**
 * The fields of a verdict. Each is declared once, with the places where it goes; what stands in the response, the JWT, the audit entry, the
 * kept verification and the observation follows from here.
 */
import Type, { type TSchema } from 'typebox'
import { PACK_GRADES } from '../../models/pack/grades.js'
import { acrOf, type Possession } from '../contract/acr.js'
import { CLAIMS, FACT_ORDER, REASONS, RESPONSE_ORDER } from '../contract/verdict.js'
import { isoTime, SECOND_MS } from '../lib/clock.js'
import type { UserCall } from '../verification/call.js'
import { qualityView } from '../verification/capture/quality-views.js'
import { type LivenessStatement, NOTHING_CHECKED } from '../verification/liveness.js'
import type { Verdict, VerifyInput } from '../verification/verdict.js'
import type { VerdictTokens } from '../verification/verdict-token.js'
import {
  captureIntegrityField,
  includesQuality,
  liveness,
  nullable,
  quality,
  text,
  time,
  userId,
  words,
} from './schemas.js'
import { livenessView, scoreView } from './views.js'

/** A verdict with all that its fields are made from. */
export interface Reached {
  call: UserCall<VerifyInput>
  verdict: Verdict
  verificationId: string
  /** Time of the verdict, in milliseconds since the Unix epoch. */
  at: number
  /** Times of its JWT, in Unix seconds. */
  issuedAt: number
  expiresAt: number
  /** Base URL of the environment. */
  issuer: string
  /** SHA-256 of the action in RFC 8785 canonical form, in lower-case hex. */
  actionHash: string
  /** The JWTs; absent until their claims are signed. */
  tokens?: VerdictTokens
  /** Whether the verdict has issued the production key; absent until the JWTs are signed. */
  isKeyIssued?: boolean
  /** Keyed digest of a text for the audit entry, so that nobody can check a guess at it after an erasure; undefined where no user is known. */
  digestOf(text: string): string | undefined
}

/**
 * Where a field can go besides the response: claims of the JWT, audit entry, kept facts, observation for log and metrics, or the audit entry of
 * a call whose verdict a condition withholds.
 */
export type Destination = 'jwt' | 'audit' | 'kept' | 'observed' | 'refused'

/** @template Evidence what a part of the verify has found or asks of an approval, where the field is that of a part */
export interface VerdictField<Evidence = unknown> {
  name: string
  /** Schema in the response, which has null where there is no value; absent for a field that the response lacks. */
  response?: TSchema
  to?: readonly Destination[]
  /** @returns undefined where the verdict has no such fact: only the response names it then */
  value(reached: Reached, evidence: Evidence | null): unknown
}

/** The `acr` of a verdict that authenticates nobody (OpenID Connect Core, section 2). */
const NO_ACR = '0'

const EVERYWHERE = ['jwt', 'audit', 'kept', 'observed'] as const
const STATED = ['jwt', 'audit', 'kept'] as const
const RECORDED = ['audit', 'kept'] as const

const isApproved = ({ verdict }: Reached) => verdict.reason === null
const scoreOf = ({ verdict: { comparison } }: Reached) => {
  const score = comparison?.score ?? null
  return score === null ? null : scoreView(score)
}
const livenessOf = ({ verdict: { comparison } }: Reached): LivenessStatement =>
  comparison?.sample.liveness ?? NOTHING_CHECKED
const assessedOf = ({ verdict: { comparison } }: Reached) => comparison?.sample.assessed ?? null

/** The core's fields. */
const VERDICT_FIELDS: readonly VerdictField[] = [
  {
    name: 'verification_id',
    response: text('The `jti` of the JWT.'),
    to: ['audit'],
    value: ({ verificationId }) => verificationId,
  },
  { name: 'user_id', response: userId, value: ({ call }) => call.input.user_id },
  {
    name: 'verdict',
    response: words(['approved', 'rejected']),
    to: EVERYWHERE,
    value: (reached) => (isApproved(reached) ? 'approved' : 'rejected'),
  },
  {
    name: 'reason',
    response: nullable(words(REASONS)),
    to: ['audit', 'kept', 'observed'],
    value: ({ verdict }) => verdict.reason,
  },
  { name: 'reason', to: ['jwt'], value: ({ verdict }) => verdict.reason ?? undefined },
  {
    name: 'score',
    response: nullable(
      Type.Number({
        description: 'Similarity; higher is more alike. Null when the images were not compared.',
      }),
    ),
    to: ['audit', 'kept', 'observed'],
    value: scoreOf,
  },
  // How near a rejection came would guide somebody who tries picture after picture, and a token may come to a browser.
  {
    name: 'score',
    to: ['jwt'],
    value: (reached) => (isApproved(reached) ? (scoreOf(reached) ?? undefined) : undefined),
  },
  {
    name: 'threshold',
    response: Type.Number({ description: 'Lowest score that is approved.' }),
    to: ['audit', 'kept', 'observed'],
    value: ({ verdict }) => scoreView(verdict.terms.point.threshold),
  },
  {
    name: 'fmr',
    response: Type.Number({
      description:
        'False match rate that the threshold reached on calibration data. It may differ from the configured one.',
    }),
    to: STATED,
    value: ({ verdict }) => verdict.terms.point.fmr,
  },
  {
    name: 'fmr_basis',
    response: words(
      ['measured', 'extrapolated'],
      'Basis of `fmr`: `extrapolated` where nobody has measured the rate and the operator accepted that.',
    ),
    to: STATED,
    value: ({ verdict }) => verdict.terms.point.basis,
  },
  {
    name: 'model_grade',
    response: words(
      PACK_GRADES,
      'Grade of the model pack at this rate: `production` where the rate was measured on everybody and in each group of people; `ungrouped` where the data name no groups; else `evaluation`.',
    ),
    to: STATED,
    value: ({ verdict }) => verdict.terms.point.grade,
  },
  { name: 'liveness', response: liveness, value: (reached) => livenessView(livenessOf(reached)) },
  {
    name: 'liveness',
    to: ['jwt'],
    value: (reached) => {
      const { checked, passed, methods, score } = livenessView(livenessOf(reached))
      return { checked, passed, methods, ...(isApproved(reached) ? { score } : {}) }
    },
  },
  {
    name: 'quality',
    response: nullable(quality),
    value: (reached) => {
      const { input } = reached.call
      const { evidence } = reached.verdict
      const assessed = assessedOf(reached)
      return assessed && qualityView([assessed], evidence.field.pathOf, includesQuality(input))
    },
  },
  {
    name: 'quality',
    to: ['observed'],
    value: (reached) => assessedOf(reached)?.quality.score ?? null,
  },
  {
    name: 'replay',
    response: Type.Object(
      { suspected: Type.Boolean() },
      { description: 'Whether the capture was seen before within 24 hours.' },
    ),
    to: ['jwt'],
    value: ({ verdict }) => ({ suspected: verdict.replaySuspected }),
  },
  { name: 'replay_suspected', to: RECORDED, value: ({ verdict }) => verdict.replaySuspected },
  {
    name: 'capture_integrity',
    response: nullable(captureIntegrityField, 'Null where no report was sent.'),
    to: [...RECORDED, 'refused'],
    value: ({ verdict }) => verdict.evidence.integrity ?? undefined,
  },
  {
    name: 'signals',
    to: ['observed'],
    value: ({ verdict }) => verdict.evidence.integrity?.signals,
  },
  {
    name: 'model',
    response: Type.String(),
    to: EVERYWHERE,
    value: ({ verdict }) => verdict.terms.model,
  },
  {
    name: 'verified_at',
    response: time('When the verdict was reached.'),
    value: ({ at }) => isoTime(at),
  },
  {
    name: 'jwt',
    response: text('The verdict, signed with the signing secret that the caller holds.'),
    value: ({ tokens }) => tokens?.jwt,
  },
  {
    name: 'jwt_next',
    response: nullable(
      text('During a rotation overlap: the same claims under the new secret. Null otherwise.'),
    ),
    value: ({ tokens }) => tokens?.jwt_next,
  },
  {
    name: 'jwt_expires_at',
    response: time('When the JWT expires.'),
    value: ({ expiresAt }) => isoTime(expiresAt * SECOND_MS),
  },
  {
    name: 'production_key',
    response: nullable(
      Type.Literal('issued', {
        description: 'Sandbox only: this verification cleared and issued the production key. Null otherwise.',
      }),
    ),
    value: ({ isKeyIssued }) => (isKeyIssued ? 'issued' : undefined),
  },
  { name: 'iss', to: ['jwt'], value: ({ issuer }) => issuer },
  { name: 'aud', to: ['jwt'], value: ({ call }) => call.tenant.id },
  { name: 'sub', to: ['jwt'], value: ({ call }) => call.input.user_id },
  { name: 'iat', to: ['jwt'], value: ({ issuedAt }) => issuedAt },
  { name: 'nbf', to: ['jwt'], value: ({ issuedAt }) => issuedAt },
  { name: 'auth_time', to: ['jwt'], value: ({ issuedAt }) => issuedAt },
  { name: 'exp', to: ['jwt'], value: ({ expiresAt }) => expiresAt },
  { name: 'jti', to: ['jwt'], value: ({ verificationId }) => verificationId },
  { name: 'txn', to: ['jwt'], value: ({ call }) => call.requestId },
  { name: 'env', to: ['jwt'], value: ({ call }) => call.environment },
  { name: 'action', to: ['jwt'], value: ({ call }) => call.input.action },
  { name: 'action_hash', to: ['jwt', 'kept'], value: ({ actionHash }) => actionHash },
  { name: 'action_hash', to: ['audit'], value: ({ actionHash, digestOf }) => digestOf(actionHash) },
  { name: 'nonce', to: ['jwt'], value: ({ call }) => call.input.nonce },
  { name: 'capture_session', to: ['jwt', 'kept'], value: ({ call }) => call.captureSession?.id },
  { name: 'capture_binding', to: ['jwt'], value: ({ call }) => call.captureSession?.binding },
  {
    name: 'amr',
    to: ['jwt'],
    value: ({ verdict: { reason, possession } }) => amrOf(reason, possession),
  },
  {
    name: 'acr',
    to: STATED,
    value: (reached) => {
      const { verdict } = reached
      return isApproved(reached)
        ? acrOf(livenessOf(reached).methods, verdict.evidence.film !== null, verdict.possession)
        : NO_ACR
    },
  },
  { name: 'request_id', to: ['kept'], value: ({ call }) => call.requestId },
  { name: 'subject', to: ['audit', 'refused'], value: ({ verdict }) => verdict.subject?.pseudonym },
  { name: 'liveness_score', to: ['audit'], value: (reached) => livenessOf(reached).score },
  {
    name: 'liveness_methods',
    to: ['audit'],
    value: (reached) => {
      const { methods } = livenessOf(reached)
      return methods.length > 0 ? methods : undefined
    },
  },
  { name: 'liveness_guidance', to: ['audit'], value: (reached) => livenessOf(reached).guidance ?? undefined },
  { name: 'liveness_findings', to: ['audit'], value: (reached) => livenessOf(reached).findings ?? undefined },
  { name: 'effect', to: ['observed'], value: ({ verdict }) => verdict.effect },
]

/** The `amr` of a verdict. Only an approval claims possession: a rejection authenticates nobody. */
export function amrOf(reason: Verdict['reason'], possession: Possession | null): string[] {
  return reason === null && possession !== null ? ['face', possession] : ['face']
}

/** The places where a field goes. */
type Place = Destination | 'response'

/** The fields of the core and of the parts of a verify, in the order of each place. */
export class VerdictFields {
  private readonly byPlace: Record<Place, Array<VerdictField & { part: number }>>

  /** @param parts the fields of each part, in the order in which their evidence is given later */
  constructor(parts: ReadonlyArray<readonly VerdictField[]>) {
    const all = [VERDICT_FIELDS, ...parts].flatMap((fields, index) =>
      fields.map((field) => ({ ...field, part: index - 1 })),
    )
    const at = (place: Place) =>
      all.filter(({ response, to }) => (place === 'response' ? response : to?.includes(place)))
    this.byPlace = {
      response: inOrder(at('response'), RESPONSE_ORDER),
      jwt: inOrder(at('jwt'), Object.keys(CLAIMS)),
      kept: inOrder(at('kept'), FACT_ORDER),
      ...{ audit: at('audit'), observed: at('observed'), refused: at('refused') },
    }
  }

  get schema(): TSchema {
    const members = this.byPlace.response.map(({ name, response }) => [name, response!])
    return Type.Object(Object.fromEntries(members), { title: 'VerifyResult' })
  }

  /** Names of all members that a verdict can have at one place. */
  namesAt(place: Place): string[] {
    return [...new Set(this.byPlace[place].map(({ name }) => name))]
  }

  /** The members of a verdict at one place. @param evidence of each part */
  of(place: Place, reached: Reached, evidence: readonly unknown[]): Record<string, unknown> {
    const members: Record<string, unknown> = {}
    for (const { name, value, part } of this.byPlace[place]) {
      const member = value(reached, part < 0 ? null : evidence[part])
      // The response names every member, with null where there is no value.
      if (member !== undefined || place === 'response') members[name] = member ?? null
    }
    return members
  }
}

function inOrder<Field extends { name: string }>(fields: Field[], order: readonly string[]): Field[] {
  const placeOf = ({ name }: Field) => {
    const place = order.indexOf(name)
    return place < 0 ? order.length : place
  }
  return fields.toSorted((one, other) => placeOf(one) - placeOf(other))
}
