/** Counts the attempts to deliver webhooks. */
import { Counter, type Registry } from 'prom-client'

const OUTCOMES = ['delivered', 'retried', 'given_up'] as const
export type DeliveryOutcome = (typeof OUTCOMES)[number]

export class WebhookMetrics {
  private readonly attempts: Counter<'outcome'>

  constructor(registry: Registry) {
    this.attempts = new Counter({
      name: 'countersign_webhook_attempts_total',
      help: 'Attempts to deliver a webhook by outcome: delivered, retried later, or given up.',
      labelNames: ['outcome'],
      registers: [registry],
    })
    for (const outcome of OUTCOMES) this.attempts.inc({ outcome }, 0)
  }

  readonly observe = (outcome: DeliveryOutcome): void => {
    this.attempts.inc({ outcome })
  }
}
