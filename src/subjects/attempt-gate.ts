/** Admits no more verifies of one user at a time than it has attempts left, so that parallel guesses cannot step past a lockout. */
import { ApiError, retryAfter } from '../api-error.js'

/** More callers than these wait for one user only where somebody hammers it: they are refused at once, and can come again. */
export const MOST_WAITING = 16
const RETRY_SECONDS = 1

interface Waiting {
  attemptsLeft: () => Promise<number>
  admit(): void
  refuse(error: unknown): void
}

interface Gate {
  key: string
  inside: number
  /** How many have left: what was asked before the last one did is out of date. */
  departures: number
  /** In order of arrival. */
  queue: Waiting[]
  /** Somebody goes through the queue. */
  isAdmitting: boolean
}

export interface GateCall {
  /** On `performance.now()`'s axis. */
  deadlineMs: number
  /** Aborted when the caller hangs up. */
  signal: AbortSignal
}

export class AttemptGate {
  private readonly gates = new Map<string, Gate>()

  /**
   * Waits until fewer verifies of `key` are under way than `attemptsLeft()`, asked anew after each that ends; one is always
   * admitted. Resolves with the function that must be called when the verify has been committed or has failed.
   * @throws ApiError overloaded when too many wait already, deadline_exceeded; what `attemptsLeft` throws
   */
  async enter(key: string, attemptsLeft: () => Promise<number>, call: GateCall): Promise<() => void> {
    const gate = this.gates.get(key) ?? { key, inside: 0, departures: 0, queue: [], isAdmitting: false }
    this.gates.set(key, gate)
    if (gate.inside === 0 && gate.queue.length === 0) gate.inside++
    else await this.wait(gate, attemptsLeft, call)
    return () => {
      gate.inside--
      gate.departures++
      void this.admit(gate)
    }
  }

  private wait(
    gate: Gate,
    attemptsLeft: Waiting['attemptsLeft'],
    { deadlineMs, signal }: GateCall,
  ): Promise<void> {
    if (gate.queue.length >= MOST_WAITING)
      throw new ApiError('overloaded', {
        message: 'Too many verifications of this user are under way.',
        headers: retryAfter(RETRY_SECONDS),
      })
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', giveUp)
        gate.queue.splice(gate.queue.indexOf(waiting), 1)
      }
      const waiting: Waiting = {
        attemptsLeft,
        admit: () => {
          end()
          gate.inside++
          resolve()
        },
        refuse: (error) => {
          end()
          reject(error)
        },
      }
      const giveUp = () => waiting.refuse(new ApiError('deadline_exceeded'))
      const timer = setTimeout(giveUp, Math.max(0, deadlineMs - performance.now()))
      signal.addEventListener('abort', giveUp)
      gate.queue.push(waiting)
      void this.admit(gate)
    })
  }

  /** Lets in whoever may, one after the other. Somebody inside or at the end of a wait always calls it again. */
  private async admit(gate: Gate): Promise<void> {
    if (gate.isAdmitting) return
    gate.isAdmitting = true
    for (let first = gate.queue[0]; first; first = gate.queue[0]) {
      const { departures } = gate
      try {
        const left = gate.inside === 0 ? 1 : await first.attemptsLeft()
        // Gone meanwhile, or what was asked is out of date: the question is put anew.
        if (first !== gate.queue[0] || departures !== gate.departures) continue
        if (gate.inside >= Math.max(1, left)) break
        first.admit()
      } catch (error) {
        if (first === gate.queue[0]) first.refuse(error)
      }
    }
    gate.isAdmitting = false
    if (gate.inside === 0 && gate.queue.length === 0) this.gates.delete(gate.key)
  }
}
