/** Lets a service that starts before its PostgreSQL wait for the database instead of ending. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { MINUTE_MS, SECOND_MS } from '../lib/clock.js'
import { StoreOpenError, StoreUnavailableError } from './store.js'

/** Pauses between attempts; they double up to the longest. */
const RETRY_MS = { first: 250, longest: 2 * SECOND_MS } as const
/** How often the log repeats that the service is still waiting. */
const REPEAT_MS = MINUTE_MS

/**
 * Calls `open` until the database can be reached. Throws failures that need somebody's help, such as a wrong password, at once.
 * @param signal ends the waiting when the service is stopped
 * @throws what `open` throws; the signal's reason
 */
export async function whenDatabaseIsReachable<T>(
  open: () => Promise<T>,
  { log, signal }: { log: Logger; signal: AbortSignal | undefined },
): Promise<T> {
  const beganAtMs = performance.now()
  let reported = { message: '', atMs: 0 }
  for (let pauseMs: number = RETRY_MS.first; ; pauseMs = Math.min(2 * pauseMs, RETRY_MS.longest)) {
    try {
      const opened = await open()
      const waited_ms = Math.round(performance.now() - beganAtMs)
      if (reported.message) log.info({ waited_ms }, 'the database can be reached now')
      return opened
    } catch (error) {
      if (!willPass(error)) throw error
      signal?.throwIfAborted()
      const { message } = error as Error
      if (message !== reported.message || performance.now() - reported.atMs >= REPEAT_MS) {
        log.warn({ reason: message }, 'waiting for the database before serving')
        reported = { message, atMs: performance.now() }
      }
    }
    await sleep(pauseMs, undefined, { ...(signal && { signal }) }).catch(() => {})
    signal?.throwIfAborted()
  }
}

function willPass(error: unknown): boolean {
  return error instanceof StoreUnavailableError || (error instanceof StoreOpenError && error.isPassing)
}
