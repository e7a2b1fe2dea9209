/** Webhooks: report to backends what happened to their users. The outbox stores each delivery with its event, and the sender repeats it until it arrives. */
import type { Feature } from '../feature.js'
import { webhookRoutes } from './console-routes.js'
import { attemptCounter } from './webhook-metrics.js'
import type { WebhookOperationError } from './webhook-operations.js'
import { WEBHOOK_REQUESTS } from './webhook-schemas.js'
import { WebhookSender } from './webhook-sender.js'
import type { WebhookUrlError } from './webhook-url.js'

const STATUSES = {
  invalid_webhook_url: 400,
  invalid_events: 400,
  too_many_webhooks: 409,
  webhook_not_found: 404,
  webhook_queue_full: 409,
  delivery_not_found: 404,
  delivery_pending: 409,
  body_gone: 409,
} satisfies Record<(WebhookOperationError | WebhookUrlError)['code'], number>

export const webhooks: Feature = {
  statuses: STATUSES,
  sends: WEBHOOK_REQUESTS,
  attach(host) {
    const observe = attemptCounter(host.metrics.registry)
    return { console: webhookRoutes(host), jobs: { drained: [new WebhookSender({ ...host, observe })] } }
  },
}
