/** The routes for a tenant's webhooks and their deliveries. */
import Type from 'typebox'
import { webhookDeliveryView, webhookViews } from '../../admin/views.js'
import { MAX_ENDPOINTS } from '../../admin/webhook-operations.js'
import { DomainError } from '../../lib/domain-error.js'
import type { WebhookDeliveryRecord } from '../../storage/records.js'
import { RETRY_DELAYS_MS } from '../../webhooks/outbox.js'
import { WEBHOOK_EVENTS } from '../../webhooks/webhook-events.js'
import { environment, text } from '../lib/bodies.js'
import { asks, tenantRoute } from './route.js'

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

export const WEBHOOK_ROUTES = {
  'GET /webhooks': tenantRoute({
    right: 'read',
    async answer({ services, tenant }) {
      const webhooks = await webhookViews(services.core.store.read, tenant.id)
      return {
        webhooks: webhooks.map((view) => ({ ...view, url: withoutTokens(view.url) })),
        /** Types of event to choose from. */
        event_types: WEBHOOK_EVENTS,
        max_webhooks: MAX_ENDPOINTS,
        /** Whether the tenant is suspended, so that deliveries wait. */
        is_held: tenant.suspendedAt !== null,
      }
    },
  }),

  'POST /webhooks': tenantRoute({
    // Only for the operator: a tenant could make the service send requests into the operator's own network.
    right: 'admin',
    status: 201,
    body: {
      url: text(2048),
      environment,
      /** Types of event to send; an empty list stands for all. */
      events: Type.Array(text(64), { maxItems: 32 }),
    },
    answer: async ({ operations, tenant, actor, input }) => ({
      id: (await operations.webhooks.add(tenant, actor, input)).id,
    }),
  }),

  'POST /webhooks/remove': tenantRoute({
    right: 'admin',
    body: chosenWebhook,
    async answer({ operations, tenant, actor, input: { webhook } }) {
      await operations.webhooks.remove(tenant, actor, webhook)
      return { removed: webhook }
    },
  }),

  'POST /webhooks/test': tenantRoute({
    right: 'write',
    harmless: 'It sends a made-up event, only to an address that a fresh sign-in added.',
    body: chosenWebhook,
    answer: async ({ operations, tenant, input }) => ({
      delivery: await operations.webhooks.test(tenant, input.webhook),
    }),
  }),

  'GET /webhooks/deliveries': tenantRoute({
    right: 'read',
    query: asks<DeliveryQuery>(),
    async answer({ services, tenant, query }) {
      const before = parseCursor(query.get('before'))
      const status = DELIVERY_STATES.find((name) => name === query.get('status'))
      const filter = { ...(before && { before }), ...(status && { status }) }
      const found = await services.core.store.read.webhookDeliveries(tenant.id, PAGE + 1, filter)
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

  'POST /webhooks/redeliver': tenantRoute({
    right: 'write',
    harmless: 'It repeats a delivery, only to an address that a fresh sign-in added.',
    body: { delivery: text(64) },
    async answer({ operations, tenant, actor, input }) {
      const { eventId } = await operations.webhooks.redeliver(tenant, actor, input.delivery)
      return { event_id: eventId }
    },
  }),
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
  if (!id)
    throw new DomainError('invalid_request', {
      details: [{ path: 'before', issue: 'must be a cursor that was given' }],
    })
  return { createdAt: Number(createdAt), id }
}
