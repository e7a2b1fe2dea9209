/** GET /v1/capture-sessions/{session_id}: the state and the verdict of a session of the hosted capture page. */

import Type from 'typebox'
import type { Endpoint, EndpointDescription } from '../../api/endpoint.js'
import { assertOneOf } from '../../api/key-scope.js'
import { consent, flag, nullable, ownId, time, words } from '../../api/schemas.js'
import type { Services } from '../../api/services.js'
import { isoTime } from '../../lib/clock.js'
import { DomainError } from '../../lib/domain-error.js'
import { isProvenBy } from './capture-session-book.js'
import { type CaptureSessionRecord, captureSessionReader } from './capture-tables.js'
import { bindingView, CAPTURE } from './create-capture-session.js'

const STATUSES = ['open', 'in_progress', 'completed', 'cancelled', 'expired'] as const
type Status = (typeof STATUSES)[number]

const sessionId = ownId()
const proofSchema = Type.String({ minLength: 1, maxLength: 128 })

const success = Type.Object(
  {
    session_id: sessionId,
    status: words(
      STATUSES,
      '`open`: nobody has opened the link. `in_progress`: somebody has opened it. `completed`: `result` is final. `cancelled`: the person gave up. `expired`: the session expired before it was completed.',
    ),
    attempts: Type.Integer({ minimum: 0, description: 'Captures that were judged or are being judged.' }),
    consent: nullable(consent),
    browser: bindingView,
    disowned: flag('Whether the person said that somebody else had begun. The session is then `cancelled`.'),
    result: nullable(
      Type.Object(
        {
          status: Type.Integer({ description: 'HTTP status of the call of verify or enroll.' }),
          body: Type.Record(Type.String(), Type.Unknown(), {
            description: 'Body of the answer of `verify` or `enroll`: the verdict with its JWT, or an error.',
          }),
        },
        {
          description:
            'The result of the last capture that was judged; null where none was. With `browser: "same"` it is there once the session is `completed`, and only with the proof. The JWT’s `capture_session` is the id of the session. Only the checked JWT proves an approval: the status `completed` does not.',
        },
      ),
    ),
    result_withheld: nullable(
      Type.Literal('proof_required', {
        description:
          'There is a result, which is given out only with the proof of the browser that captured.',
      }),
    ),
    created_at: time('When the session was made.'),
    expires_at: time('When it expires.'),
  },
  { title: 'CaptureSession' },
)

export const getCaptureSessionDescription: EndpointDescription = {
  id: 'get_capture_session',
  topic: CAPTURE,
  sdkName: 'getCaptureSession',
  method: 'GET',
  path: '/v1/capture-sessions/{session_id}',
  summary: 'Look at a session of the hosted page',
  description:
    'Says how far the person has come, what they agreed to, and the answer of the verification or enrollment. The session can be read until an hour after it has expired, or until the user is erased.',
  pathParameters: {
    session_id: { schema: sessionId, description: 'Id that `POST /v1/capture-sessions` returned.' },
  },
  query: {
    proof: {
      schema: proofSchema,
      description:
        '`capture_proof` from the address with which the person came back. A session with `browser: "any"` needs none.',
    },
  },
  success: { status: 200, description: 'The session.', schema: success },
  errors: ['invalid_request', 'capture_session_not_found', 'capture_proof_invalid'],
  scopes: ['verify', 'enroll'],
}

/** Idempotency key under which the answer to a capture is kept: the page sends the capture with it, and this endpoint reads it. */
export function captureAnswerKey(sessionId: string, challengeId: string): string {
  return `capture-session/${sessionId}/${challengeId}`
}

/** The parts of the service that describe a capture session. */
type Parts = Pick<Services, 'store' | 'clock' | 'idempotency'>

export function getCaptureSession({
  store,
  clock,
  idempotency,
}: Parts): Endpoint<{ session_id: string; proof?: string }> {
  return {
    ...getCaptureSessionDescription,
    async handle({ input, tenant, environment, scopes }) {
      const record = await store.read.statements(captureSessionReader).one(input.session_id)
      if (record?.tenantId !== tenant.id || record.environment !== environment)
        throw new DomainError('capture_session_not_found')
      assertOneOf(scopes, [record.purpose], 'session_id')
      const { id, attempts, consentVersion, consentedAt, disownedAt, createdAt, expiresAt, binding } = record
      const isWithheld = binding === 'same' && !provenBy(record, input.proof)
      const result = isWithheld ? null : await resultOf(record)
      return {
        status: 200,
        body: {
          session_id: id,
          status: statusOf(record, clock.now()),
          attempts,
          consent: consentedAt === null ? null : { id: consentVersion, agreed_at: isoTime(consentedAt) },
          browser: binding,
          result,
          result_withheld: isWithheld && isCompletedByCapture(record) ? 'proof_required' : null,
          disowned: disownedAt !== null,
          created_at: isoTime(createdAt),
          expires_at: isoTime(expiresAt),
        },
      }
    },
  }

  async function resultOf({ id, tenantId, environment, purpose, answered }: CaptureSessionRecord) {
    if (answered === null) return null
    const path = `/v1/${purpose}`
    const key = captureAnswerKey(id, answered)
    const kept = await idempotency.kept({ tenantId, environment, method: 'POST', path, key })
    return kept && { status: kept.status, body: JSON.parse(kept.body) as Record<string, unknown> }
  }
}

/** Whether the caller has brought the proof of the browser that captured. @throws DomainError capture_proof_invalid */
function provenBy(record: CaptureSessionRecord, proof: string | undefined): boolean {
  if (proof === undefined) return false
  if (!isProvenBy(record, proof)) throw new DomainError('capture_proof_invalid')
  return true
}

function isCompletedByCapture({ status, answered }: CaptureSessionRecord): boolean {
  return status === 'completed' && answered !== null
}

function statusOf({ status, browser, expiresAt }: CaptureSessionRecord, now: number): Status {
  if (status !== 'open') return status
  if (expiresAt <= now) return 'expired'
  return browser === null ? 'open' : 'in_progress'
}
