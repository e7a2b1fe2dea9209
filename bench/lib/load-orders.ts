/** What the load generator can be asked for, and what it answers. */

/** Where the load goes. */
export interface Target {
  /** Origin, without /v1. */
  origin: string
  key: string
}

export type LoadOrder =
  /** Enrols `user-0` … `user-<users - 1>`, each once; one that is refused, again after `Retry-After`. */
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
  /**
   * A closed loop: each of `callers` sends its next verify when the last one is answered, going round the users. A refusal
   * ends the order, unless the callers are `patient`: then they come back after `Retry-After`.
   */
  | {
      type: 'verify'
      target: Target
      users: number
      images: Buffer[]
      callers: number
      patient?: boolean
      warmUpSeconds: number
      seconds: number
    }
  /**
   * An open loop: verifies arrive at random (a Poisson process, the same one every time), whether or not earlier ones are
   * answered. Their latency counts from the time at which they should have been sent.
   */
  | {
      type: 'arrivals'
      target: Target
      users: number
      images: Buffer[]
      ratePerSecond: number
      warmUpSeconds: number
      seconds: number
    }
  /** As `verify` of patient callers, over tenants: each verify is of another one. Several generators go round the same users, each from its own place on. */
  | {
      type: 'tenants'
      origin: string
      /** One a tenant. */
      keys: string[]
      /** Of each tenant. */
      users: number
      images: Buffer[]
      callers: number
      /** Which verify of the round comes first. */
      first: number
      warmUpSeconds: number
      seconds: number
    }
  /** A closed loop of health requests, one at a time on each connection. */
  | { type: 'health'; target: Target; connections: number; warmUpSeconds: number; seconds: number }

export type Operation = 'enroll' | 'verify' | 'delete' | 'health'

/** What `patient` callers and arrivals are told when the service is at capacity (503, 429) or too late (504). */
export interface Refusal {
  status: number
  elapsedMs: number
}

export interface LoadResult {
  /** From the first byte written to the last byte read, in milliseconds, a list an operation. */
  latenciesMs: Record<Operation, number[]>
  /** What the service itself says of each verify of a lifecycle (`Server-Timing`), in milliseconds by stage. */
  verifyStagesMs: Array<Record<string, number>>
  /** When each verify was answered, in milliseconds on this process's own axis. */
  verifiedAtMs: number[]
  /** Verifies that were refused; they are in no other list. */
  refusals: Refusal[]
  /** Every request of the order, the warm-up's included. */
  requests: number
  /** Length of the measured part, in milliseconds. */
  wallMs: number
  /** CPU time that the load generator itself took in it, in milliseconds. */
  cpuMs: number
}
