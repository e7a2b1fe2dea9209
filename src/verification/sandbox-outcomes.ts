/** Carries out the outcomes of the sandbox that need the service's clock and errors; the rules stand in `client/sandbox-rules.ts`. */
import { BiometricError } from '../biometrics/biometric-error.js'
import { busyRefusal, RETRY_AFTER_SECONDS, SLOW_MS, sandboxOutcome } from '../client/sandbox-rules.js'
import { ApiError, retryAfter } from '../lib/api-error.js'
import type { Clock } from '../lib/clock.js'

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
 * @throws ApiError rate_limited, overloaded
 */
export function refuseScripted(userId: string): void {
  const code = busyRefusal(userId)
  if (code) throw new ApiError(code, { headers: retryAfter(RETRY_AFTER_SECONDS) })
}
