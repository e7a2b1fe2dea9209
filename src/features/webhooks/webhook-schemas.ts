/** The requests of webhooks with their bodies as JSON schemas, for the OpenAPI document and the types of the SDKs. */
import Type, { type TProperties, type TSchema } from 'typebox'
import { flag, nullable, text, words } from '../../api/schemas.js'
import { SIGNATURE_HEADER } from '../../crypto/response-signature.js'
import type { SentRequests } from '../feature.js'
import { TEST_EVENT, type WebhookEvent } from './outbox.js'
import { EVENT_ID_HEADER } from './webhook-sender.js'

const anyText = Type.String()
const time = Type.String({ format: 'date-time' })
const count = Type.Integer({ minimum: 0 })
const textOrNull = nullable(anyText)

const user = { user_id: anyText }
const session = {
  session_id: anyText,
  purpose: words(['verify', 'enroll']),
  attempts: Type.Integer({ minimum: 0, description: 'Number of captures that were judged, 0 to 3.' }),
}
const sessionResult = Type.Object(
  {
    status: Type.Integer({ description: 'HTTP status of the call of verify or enroll.' }),
    verdict: nullable(words(['approved', 'rejected'])),
    reason: textOrNull,
    code: nullable(anyText, 'Code of the error; null where the capture was not refused with one.'),
  },
  {
    description:
      'What came of the last capture. It proves nothing: get the session, and check the JWT of its verdict.',
  },
)

interface DescribedEvent {
  summary: string
  data: TProperties
}

const EVENTS: Record<WebhookEvent['type'], DescribedEvent> = {
  'user.enrolled': {
    summary: 'A reference was made, replaced, or got further photos.',
    data: {
      ...user,
      reference_id: anyText,
      model: anyText,
      views: count,
      replaced: flag('Whether the enrollment replaced another one.'),
      added: Type.Integer({
        minimum: 0,
        description: 'Number of photos that were added to the reference; 0 for one that is new.',
      }),
    },
  },
  'user.locked_out': {
    summary: 'A user has to wait after too many rejections.',
    data: { ...user, rejections: count, ends_at: time },
  },
  'user.disabled': {
    summary: 'A reference was disabled: only a new enrollment helps.',
    data: { ...user, rejections: count },
  },
  'user.unlocked': { summary: 'The operator ended the wait of a user.', data: user },
  'user.passkey_registered': {
    summary: 'A passkey was registered for a user. Somebody else than the person may have done it.',
    data: {
      ...user,
      passkey_id: anyText,
      name: textOrNull,
      synced: Type.Boolean(),
      recovered: flag('Whether a recovery took the place of an earlier passkey.'),
    },
  },
  'user.passkey_revoked': {
    summary: 'A passkey of a user was revoked.',
    data: { ...user, passkey_id: anyText },
  },
  'user.passkey_recovery_begun': {
    summary:
      'The recovery of a lost passkey has begun: another one can be registered from `ready_at` on. Tell the person, who may know nothing of it.',
    data: { ...user, verification_id: anyText, ready_at: time, expires_at: time },
  },
  'user.passkey_recovery_cancelled': {
    summary:
      'The recovery of a passkey was cancelled, by the backend or by an approved verification with a passkey.',
    data: { ...user, verification_id: anyText },
  },
  'user.passkey_counter_reversed': {
    summary:
      'A passkey of a user signed with a counter that did not grow, and was refused. A copy of the passkey may exist.',
    data: { ...user, passkey_id: anyText },
  },
  'user.erasure_scheduled': {
    summary: 'A user is going to be erased by the policy of the tenant, unless the user is approved before.',
    data: { ...user, erase_at: time },
  },
  'user.erased': {
    summary: 'A user was erased.',
    data: {
      ...user,
      status: Type.Literal('erased'),
      erasure_id: anyText,
      erased_at: time,
      erased: Type.Object({
        references: count,
        captures: count,
        passkeys: count,
        idempotency_records: count,
      }),
    },
  },
  'capture_session.completed': {
    summary: 'A session of the hosted capture page has its final result.',
    data: {
      ...session,
      result: nullable(sessionResult, 'Null where no capture was judged.'),
    },
  },
  'capture_session.cancelled': {
    summary: 'The person left the hosted capture page by its button.',
    data: {
      ...session,
      disowned: flag('Whether the person said that somebody else had begun.'),
    },
  },
  'capture_session.expired': {
    summary: 'The time of a session of the hosted capture page was over first.',
    data: session,
  },
  'openid.link_ready': {
    summary:
      'An identity provider asks for a person: send the link to that person. It is useless after `expires_at`.',
    data: {
      ...user,
      session_id: anyText,
      url: text('Link to send to the person. It opens in one browser, once.'),
      application: text('Name of the application of the OpenID provider.'),
      requested_by: text('Client of the identity provider that asks.'),
      message: nullable(anyText, 'Text that the person also sees where they began; null for none.'),
      expires_at: time,
    },
  },
  'openid.request_disowned': {
    summary: 'A person said that a request of an identity provider was begun by somebody else.',
    data: { ...user, session_id: anyText, application: anyText, requested_by: anyText },
  },
  [TEST_EVENT]: { summary: 'Somebody asked for an event, to see whether it arrives.', data: {} },
}

export function bodyOf(type: WebhookEvent['type']): TSchema {
  return Type.Object({
    id: text('The same at every try and every redelivery.'),
    type: Type.Literal(type),
    created_at: time,
    environment: words(['production', 'sandbox']),
    tenant_id: anyText,
    data: Type.Object(EVENTS[type].data),
  })
}

const TOPIC = { name: 'webhooks', about: 'Requests that the service sends to the webhooks of a tenant.' }

export const WEBHOOK_REQUESTS: SentRequests = {
  topic: TOPIC,
  requests: Object.fromEntries(
    Object.entries(EVENTS).map(([type, { summary }]) => [
      type,
      {
        post: {
          operationId: `webhook_${type.replaceAll('.', '_')}`,
          tags: [TOPIC.name],
          summary: summary.replace(/\.$/, ''),
          security: [],
          parameters: [
            { name: EVENT_ID_HEADER, in: 'header', required: true, schema: { type: 'string' } },
            { name: SIGNATURE_HEADER, in: 'header', required: true, schema: { type: 'string' } },
          ],
          requestBody: {
            required: true,
            content: { 'application/json': { schema: bodyOf(type as WebhookEvent['type']) } },
          },
          responses: {
            '2XX': { description: 'It arrived. Every other answer has it sent again later.' },
            '4XX': { description: 'The signature does not hold.' },
          },
        },
      },
    ]),
  ),
}
