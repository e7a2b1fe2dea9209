/** The routes for a tenant's webhooks and their deliveries. */

import { webhookDeliveryView, webhookView } from '../../admin/views.js'
import { MAX_ENDPOINTS } from '../../admin/webhook-operations.js'
import { DomainError } from '../../lib/domain-error.js'
import type { WebhookDeliveryRecord } from '../../storage/records.js'
import { RETRY_DELAYS_MS } from '../../webhooks/outbox.js'
import { WEBHOOK_EVENTS } from '../../webhooks/webhook-events.js'
import * as bodies from '../bodies.js'
import { DELIVERY_STATES } from '../contract.js'
import type { TenantTable } from './route.js'

/** Entries of one page: as many as a person can look through, also on a phone. */
const PAGE = 20
const CURSOR = /^(\d{1,15})-(whd_[0-9a-f]{32})$/

export const WEBHOOK_ROUTES = {
  'GET /webhooks': {
    async answer({ services, tenant }) {
      const { read } = services.core.store
      const webhooks = await Promise.all(
        (await read.webhookEndpoints(tenant.id)).map(async (endpoint) => ({
          ...webhookView(endpoint),
          url: withoutTokens(endpoint.url),
          waiting: await read.pendingWebhooks(endpoint.id),
          dropped: endpoint.dropped,
        })),
      )
      return {
        webhooks,
        event_types: WEBHOOK_EVENTS,
        max_webhooks: MAX_ENDPOINTS,
        is_held: tenant.suspendedAt !== null,
      }
    },
  },

  'POST /webhooks': {
    status: 201,
    body: bodies.newWebhook,
    answer: async ({ services, tenant, actor, input }) => ({
      id: (await services.core.operations.webhooks.add(tenant, actor, input)).id,
    }),
  },

  'POST /webhooks/remove': {
    body: bodies.webhookChoice,
    async answer({ services, tenant, actor, input: { webhook } }) {
      await services.core.operations.webhooks.remove(tenant, actor, webhook)
      return { removed: webhook }
    },
  },

  'POST /webhooks/test': {
    body: bodies.webhookChoice,
    answer: async ({ services, tenant, input }) => ({
      delivery: await services.core.operations.webhooks.test(tenant, input.webhook),
    }),
  },

  'GET /webhooks/deliveries': {
    async answer({ services, tenant, query }) {
      const before = parseCursor(query.get('before'))
      const status = DELIVERY_STATES.find((name) => name === query.get('status'))
      const filter = { ...(before && { before }), ...(status && { status }) }
      const found = await services.core.store.read.webhookDeliveries(tenant.id, PAGE + 1, filter)
      const shown = found.slice(0, PAGE)
      return {
        deliveries: shown.map(webhookDeliveryView),
        next_before: found.length > PAGE ? cursorOf(shown.at(-1)!) : null,
        max_attempts: RETRY_DELAYS_MS.length + 1,
      }
    },
  },

  'POST /webhooks/redeliver': {
    body: bodies.deliveryChoice,
    async answer({ services, tenant, actor, input }) {
      const { eventId } = await services.core.operations.webhooks.redeliver(tenant, actor, input.delivery)
      return { event_id: eventId }
    },
  },
} satisfies Partial<TenantTable>

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
  if (!id)
    throw new DomainError('invalid_request', {
      details: [{ path: 'before', issue: 'must be a cursor that was given' }],
    })
  return { createdAt: Number(createdAt), id }
}
