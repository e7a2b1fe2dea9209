/**
 * The sandbox's own lockout, capture memory and lifetime of verdicts. Each takes its outcome from the end of the user id, and none of
 * them keeps anything: the sandbox's verdicts say nothing about a person.
 */

import { LOCKED_OUT_SECONDS, sandboxOutcome } from '../../contract/sandbox-rules.js'
import { SECOND_MS } from '../../lib/clock.js'
import { type CaptureMemory, NOTHING_RECALLED } from '../capture/capture-memory.js'
import type { Lockout } from '../lockout/attempt-lockout.js'
import { type VerdictLifetime, verdictLifetime } from '../verdict-token.js'

/** Locks out the users whose id asks for it. A rejection in the sandbox locks nobody out. */
export const SANDBOX_LOCKOUT: Lockout = {
  refusal: (userId) =>
    sandboxOutcome(userId) === '+locked_out'
      ? { reason: 'locked_out', waitMs: LOCKED_OUT_SECONDS * SECOND_MS }
      : null,
  refusalOfAddition: () => null,
  count: async () => undefined,
}

/** Finds a replayed file for the users whose id asks for it, and remembers no capture: no model looks at an image here. */
export const SANDBOX_CAPTURES: CaptureMemory = {
  hash: async () => [],
  digest: () => [],
  facesOf: () => new Map(),
  recall: async ({ id }) => ({ ...NOTHING_RECALLED, hasFile: sandboxOutcome(id) === '+replayed' }),
  findReplay: (_capture, { hasFile }) => (hasFile ? 'file' : null),
  findReplaySince: () => null,
  remember: async () => {},
}

/** @param ttlSeconds lifetime of a JWT; for users whose id asks for an expired one, it ended one lifetime ago */
export function sandboxLifetime(ttlSeconds: number): VerdictLifetime {
  const lifetime = verdictLifetime(ttlSeconds)
  return (userId, at) => {
    const { issuedAt, expiresAt } = lifetime(userId, at)
    const backdatedBySeconds = sandboxOutcome(userId) === '+expired' ? 2 * ttlSeconds : 0
    return { issuedAt: issuedAt - backdatedBySeconds, expiresAt: expiresAt - backdatedBySeconds }
  }
}
