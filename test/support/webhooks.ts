/** Webhooks of a service in tests: the operations on them, and the outbox, which opens bodies of deliveries. */
import type { Service } from '../../src/app/service.js'
import { Outbox } from '../../src/features/webhooks/outbox.js'
import { WebhookOperations } from '../../src/features/webhooks/webhook-operations.js'

type Running = Pick<Service, 'core' | 'clock'>

export const webhooksOf = ({ core, clock }: Running) => new WebhookOperations({ ...core, clock })
export const outboxOf = ({ core, clock }: Running) => new Outbox({ ...core, clock })
