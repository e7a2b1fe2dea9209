/** Sends the webhooks that the core puts into its outbox. */
import type { Feature } from '../feature.js'
import { attemptCounter } from './webhook-metrics.js'
import { WebhookSender } from './webhook-sender.js'

export const webhooks: Feature = {
  attach(host) {
    const observe = attemptCounter(host.metrics.registry)
    return { jobs: { drained: [new WebhookSender({ ...host, observe })] } }
  },
}
