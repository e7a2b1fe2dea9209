/** What the load generator can be asked for, and what it answers. */

/** Where the load goes. */
export interface Target {
  /** Origin, without /v1. */
  origin: string
  key: string
}

export type LoadOrder =
  /** Enrols `user-0` … `user-<users - 1>`, each once. */
  | { type: 'enrol'; target: Target; users: number; images: Buffer[] }
  /**
   * One caller; again and again a new user is enrolled, verified and deleted, and health is asked. What happens in the
   * first `warmUpSeconds` is not reported.
   */
  | {
      type: 'lifecycle'
      target: Target
      enrolImages: Buffer[]
      verifyImages: Buffer[]
      warmUpSeconds: number
      seconds: number
    }
  /** A closed loop: each of `callers` sends its next verify when the last one is answered, going round the users. */
  | {
      type: 'verify'
      target: Target
      users: number
      images: Buffer[]
      callers: number
      warmUpSeconds: number
      seconds: number
    }

export type Operation = 'enroll' | 'verify' | 'delete' | 'health'

export interface LoadResult {
  /** From the first byte written to the last byte read, in milliseconds, a list an operation. */
  latenciesMs: Record<Operation, number[]>
  /** What the service itself says of each verify of a lifecycle (`Server-Timing`), in milliseconds by stage. */
  verifyStagesMs: Array<Record<string, number>>
  /** When each verify was answered, in milliseconds on this process's own axis. */
  verifiedAtMs: number[]
  /** Every request of the order, the warm-up's included. */
  requests: number
  /** Length of the measured part, in milliseconds. */
  wallMs: number
  /** CPU time that the load generator itself took in it, in milliseconds. */
  cpuMs: number
}
