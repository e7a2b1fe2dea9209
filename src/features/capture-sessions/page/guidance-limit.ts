/**
 * Limits how often one session of the hosted page may ask for guidance, so that a manipulated page costs no more computing time than a real
 * one.
 */
import { type Clock, SECOND_MS } from '../../../lib/clock.js'

/** The component asks every 0.7 seconds at most. */
const QUESTIONS_PER_SECOND = 2
/** Questions that are allowed at once after a pause. */
const BURST = 4
/** Most sessions that are remembered. The session that asked longest ago is forgotten first. */
const MAX_SESSIONS = 10_000

interface Allowance {
  tokens: number
  at: number
  isAsking: boolean
}

export class GuidanceLimit {
  private readonly sessions = new Map<string, Allowance>()

  constructor(private readonly clock: Clock) {}

  /** Admits one question of a session, one at a time. @returns a function that ends the question, or null when the question is refused */
  take(sessionId: string): (() => void) | null {
    const now = this.clock.now()
    const known = this.sessions.get(sessionId)
    const before = known ?? { tokens: BURST, at: now, isAsking: false }
    const earned = (Math.max(0, now - before.at) / SECOND_MS) * QUESTIONS_PER_SECOND
    const bucket = { ...before, tokens: Math.min(BURST, before.tokens + earned), at: now }
    // The order of a map is that of insertion.
    this.sessions.delete(sessionId)
    this.sessions.set(sessionId, bucket)
    if (this.sessions.size > MAX_SESSIONS) this.sessions.delete(this.sessions.keys().next().value!)
    if (bucket.isAsking || bucket.tokens < 1) return null
    bucket.tokens--
    bucket.isAsking = true
    return () => {
      const present = this.sessions.get(sessionId)
      if (present) present.isAsking = false
    }
  }
}
