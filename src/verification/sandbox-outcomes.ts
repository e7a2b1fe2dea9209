/** Carries out the outcomes of the sandbox that need the service's clock and errors; the rules stand in `client/sandbox-rules.ts`. */
import { BiometricError } from '../biometrics/biometric-error.js'
import { busyRefusal, RETRY_AFTER_SECONDS, SLOW_MS, sandboxOutcome } from '../client/sandbox-rules.js'
import { type Clock, SECOND_MS } from '../lib/clock.js'
import { DomainError } from '../lib/domain-error.js'

/**
 * Waits 5 s where the user id ends in `+slow`.
 * @throws BiometricError cancelled when the caller closes the connection
 */
export async function waitAsScripted(userId: string, clock: Clock, signal: AbortSignal): Promise<void> {
  if (sandboxOutcome(userId) !== '+slow') return
  await clock.sleep(SLOW_MS, signal).catch(() => {
    throw new BiometricError('cancelled', 'The caller hung up.')
  })
}

/**
 * Refuses a user whose id asks for it, before any image is looked at.
 * @throws DomainError rate_limited, overloaded
 */
export function refuseScripted(userId: string): void {
  const code = busyRefusal(userId)
  if (code) throw new DomainError(code, { retryAfterMs: RETRY_AFTER_SECONDS * SECOND_MS })
}
