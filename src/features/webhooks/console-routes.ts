/** The routes for a tenant's webhooks and their deliveries. */

import Type from 'typebox'
import { environment, text } from '../../dashboard/lib/bodies.js'
import { asks, consoleRoute } from '../../dashboard/lib/route.js'
import { EVENT_TYPES } from '../../events/event-types.js'
import { invalidField } from '../../lib/domain-error.js'
import type { FeatureHost } from '../feature.js'
import { RETRY_DELAYS_MS } from './outbox.js'
import { MAX_ENDPOINTS, WebhookOperations } from './webhook-operations.js'
import { type WebhookDeliveryRecord, webhookReader } from './webhook-tables.js'
import { webhookDeliveryView, webhookViews } from './webhook-views.js'

/** Entries of one page: as many as a person can look through, also on a phone. */
const PAGE = 20
const CURSOR = /^(\d{1,15})-(whd_[0-9a-f]{32})$/

const DELIVERY_STATES = ['pending', 'delivered', 'failed', 'erased'] as const

export interface DeliveryQuery {
  /** Status of the deliveries; empty or missing for all. `failed` includes deliveries that wait for another attempt. */
  status?: (typeof DELIVERY_STATES)[number] | ''
  /** Cursor at which the page begins. */
  before?: string
}

const chosenWebhook = { webhook: text(64) }

export function webhookRoutes(host: FeatureHost) {
  const { read } = host.store
  const operations = new WebhookOperations(host)
  return {
    'GET /webhooks': consoleRoute({
      right: 'read',
      async answer({ tenant }) {
        const webhooks = await webhookViews(read, tenant.id)
        return {
          webhooks: webhooks.map((view) => ({ ...view, url: withoutTokens(view.url) })),
          event_types: EVENT_TYPES,
          max_webhooks: MAX_ENDPOINTS,
          /** Whether the tenant is suspended, so that deliveries wait. */
          is_held: tenant.suspendedAt !== null,
        }
      },
    }),

    'POST /webhooks': consoleRoute({
      // Only for the operator: a tenant could make the service send requests into the operator's own network.
      right: 'admin',
      status: 201,
      body: {
        url: text(2048),
        environment,
        /** Types of event to send; an empty list stands for all. */
        events: Type.Array(text(64), { maxItems: 32 }),
      },
      answer: async ({ tenant, actor, input }) => ({
        id: (await operations.add(tenant, actor, input)).id,
      }),
    }),

    'POST /webhooks/remove': consoleRoute({
      right: 'admin',
      body: chosenWebhook,
      async answer({ tenant, actor, input: { webhook } }) {
        await operations.remove(tenant, actor, webhook)
        return { removed: webhook }
      },
    }),

    'POST /webhooks/test': consoleRoute({
      right: 'write',
      harmless: 'It sends a made-up event, only to an address that a fresh sign-in added.',
      body: chosenWebhook,
      answer: async ({ tenant, input }) => ({
        delivery: await operations.test(tenant, input.webhook),
      }),
    }),

    'GET /webhooks/deliveries': consoleRoute({
      right: 'read',
      query: asks<DeliveryQuery>(),
      async answer({ tenant, query }) {
        const before = parseCursor(query.get('before'))
        const status = DELIVERY_STATES.find((name) => name === query.get('status'))
        const filter = { ...(before && { before }), ...(status && { status }) }
        const found = await read.statements(webhookReader).deliveriesOf(tenant.id, PAGE + 1, filter)
        const shown = found.slice(0, PAGE)
        return {
          /** Newest first. */
          deliveries: shown.map(webhookDeliveryView),
          next_before: found.length > PAGE ? cursorOf(shown.at(-1)!) : null,
          /** Number of attempts after which a delivery is given up. */
          max_attempts: RETRY_DELAYS_MS.length + 1,
        }
      },
    }),

    'POST /webhooks/redeliver': consoleRoute({
      right: 'write',
      harmless: 'It repeats a delivery, only to an address that a fresh sign-in added.',
      body: { delivery: text(64) },
      async answer({ tenant, actor, input }) {
        const { eventId } = await operations.redeliver(tenant, actor, input.delivery)
        return { event_id: eventId }
      },
    }),
  }
}

/** Hides the values of the query, which may be tokens of the receiver and do not concern viewers of the dashboard. */
function withoutTokens(text: string): string {
  const { origin, pathname, search } = new URL(text)
  return `${origin}${pathname}${search && '?…'}`
}

function cursorOf({ createdAt, id }: WebhookDeliveryRecord): string {
  return `${createdAt}-${id}`
}

/** @throws DomainError invalid_request */
function parseCursor(text: string | null) {
  if (!text) return undefined
  const [, createdAt, id] = CURSOR.exec(text) ?? []
  if (!id) throw invalidField('before', 'must be a cursor that was given')
  return { createdAt: Number(createdAt), id }
}
