/** Work that a service does between requests. */
export interface Job {
  start(): void
  /** Resolves when nothing of it is under way. */
  stop(): void | Promise<void>
}

/**
 * When a service that stops ends a job: at once; when the last call is answered; while the engine drains; or when nothing is left that it
 * could count or keep, last of all.
 */
export const STOP_STEPS = ['atOnce', 'answered', 'drained', 'last'] as const
export type StopStep = (typeof STOP_STEPS)[number]

export type Jobs = Partial<Record<StopStep, readonly Job[]>>
