/** Lockout after consecutive rejections (NIST SP 800-63B-4, section 3.2.3): growing delays, then the reference is disabled. */
import { HOUR_MS, SECOND_MS } from '../../lib/clock.js'
import type { SubjectRecord } from '../../storage/records.js'

type LockoutState = Pick<SubjectRecord, 'failures' | 'lockedUntil' | 'disabledAt'>

export type LockoutReason = 'reference_disabled' | 'locked_out'

export const CLEAR: LockoutState = { failures: 0, lockedUntil: null, disabledAt: null }

const FIRST_DELAY_MS = 30 * SECOND_MS
const MAX_DELAY_MS = HOUR_MS
/** Multiple of the allowed attempts at which the reference is disabled until the user is enrolled again. */
export const DISABLE_FACTOR = 10

/** The state after one more rejection. @param attempts rejections before the first delay; 0 turns lockout off */
export function afterRejection(state: LockoutState, attempts: number, now: number): LockoutState {
  if (attempts === 0) return CLEAR
  const failures = state.failures + 1
  if (failures < attempts) return { failures, lockedUntil: null, disabledAt: null }
  const delayMs = Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - attempts))
  return {
    failures,
    lockedUntil: now + delayMs,
    disabledAt: failures >= attempts * DISABLE_FACTOR ? now : null,
  }
}

/** Why a verify is not evaluated now; null where it is. */
export function lockoutReason(state: LockoutState, now: number): LockoutReason | null {
  if (state.disabledAt !== null) return 'reference_disabled'
  return state.lockedUntil !== null && state.lockedUntil > now ? 'locked_out' : null
}

/** The lockout that a rejection began: a delay, or a disabled reference. Undefined where it began none. */
export function lockoutBegun(from: LockoutState, to: LockoutState): LockoutReason | undefined {
  if (to.disabledAt !== null && from.disabledAt === null) return 'reference_disabled'
  return to.lockedUntil !== null && to.lockedUntil !== from.lockedUntil ? 'locked_out' : undefined
}

/** Whether the state must be written: an approval mostly leaves it as it was. */
export function isChanged(from: LockoutState, to: LockoutState): boolean {
  return (
    from.failures !== to.failures || from.lockedUntil !== to.lockedUntil || from.disabledAt !== to.disabledAt
  )
}
