/** The tables and commands of webhooks, and the outbox that hears of events: they are known without loading the sender. */
import type { OwnParts } from '../feature.js'
import { WEBHOOK_DELIVERY, WEBHOOK_ENDPOINT } from './webhook-tables.js'

export const WEBHOOKS: OwnParts = {
  tables: [WEBHOOK_ENDPOINT, WEBHOOK_DELIVERY],
  subscribe: async (parts) => new (await import('./outbox.js')).Outbox(parts),
  commands: [
    {
      after: 'openid',
      usage: 'webhook',
      description: "a tenant's webhook endpoints and their deliveries",
      load: async () => (await import('./webhook-command.js')).registerWebhookCommands,
    },
  ],
}
