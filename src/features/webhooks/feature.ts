/** Webhooks: report to backends what happened to their users. The outbox stores each delivery with its event, and the sender repeats it until it arrives. */
import type { Feature } from '../feature.js'
import { webhookRoutes } from './console-routes.js'
import { attemptCounter } from './webhook-metrics.js'
import { WEBHOOK_ERRORS } from './webhook-operations.js'
import { WEBHOOK_REQUESTS } from './webhook-schemas.js'
import { WebhookSender } from './webhook-sender.js'
import type { WebhookUrlError } from './webhook-url.js'

export const webhooks: Feature = {
  statuses: { invalid_webhook_url: 400, ...WEBHOOK_ERRORS } satisfies Record<WebhookUrlError['code'], number>,
  sends: WEBHOOK_REQUESTS,
  attach(host) {
    const observe = attemptCounter(host.metrics.registry)
    return { console: webhookRoutes(host), jobs: { drained: [new WebhookSender({ ...host, observe })] } }
  },
}
