/** Counts the attempts to deliver webhooks. */
import { Counter, type Registry } from 'prom-client'

const OUTCOMES = ['delivered', 'retried', 'given_up'] as const
export type DeliveryOutcome = (typeof OUTCOMES)[number]

/** @returns a function that counts an attempt */
export function attemptCounter(registry: Registry): (outcome: DeliveryOutcome) => void {
  const attempts = new Counter({
    name: 'countersign_webhook_attempts_total',
    help: 'Attempts to deliver a webhook by outcome: delivered, retried later, or given up.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of OUTCOMES) attempts.inc({ outcome }, 0)
  return (outcome) => attempts.inc({ outcome })
}
