/** Orders and results of the load generator. */

/** Address and key of the measured service. */
export interface Target {
  /** Origin, without /v1. */
  origin: string
  key: string
}

export type LoadOrder =
  /** Enrolls `user-0` … `user-<users - 1>`, each once; a refused one again after `Retry-After`. */
  | { type: 'enrol'; target: Target; users: number; images: Buffer[] }
  /**
   * One caller: again and again a new user is enrolled, verified and deleted, and health is requested. The first
   * `warmUpSeconds` are not reported.
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
   * A closed loop: each of `callers` sends its next verify when the last one is answered, going round the users. A
   * refusal ends the order, unless the callers are `patient`: then they retry after `Retry-After`.
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
   * An open loop: verifies arrive at random (a Poisson process, the same one every time), whether or not earlier ones
   * are answered. Their latency counts from the time at which they should have been sent.
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
  /**
   * Like `verify` with patient callers, over several tenants: consecutive verifies are of different tenants. Several
   * generators go round the same users, each from its own offset.
   */
  | {
      type: 'tenants'
      origin: string
      /** Production keys, one a tenant. */
      keys: string[]
      /** Number of users of each tenant. */
      users: number
      images: Buffer[]
      callers: number
      /** Index of the first verify of the round. */
      first: number
      warmUpSeconds: number
      seconds: number
    }
  /** A closed loop of health requests, one at a time on each connection. */
  | { type: 'health'; target: Target; connections: number; warmUpSeconds: number; seconds: number }

export type Operation = 'enroll' | 'verify' | 'delete' | 'health'

/** Statuses for `patient` callers and arrivals when the service is at capacity (503, 429) or too late (504). */
export interface Refusal {
  status: number
  elapsedMs: number
}

export interface LoadResult {
  /** Milliseconds from the first byte written to the last byte read, a list an operation. */
  latenciesMs: Record<Operation, number[]>
  /** Milliseconds by stage that the service reports for each verify of a lifecycle (`Server-Timing`). */
  verifyStagesMs: Array<Record<string, number>>
  /** Time at which each verify was answered, in milliseconds on this process's own axis. */
  verifiedAtMs: number[]
  /** Verifies that were refused; they are in no other list. */
  refusals: Refusal[]
  /** Number of all requests of the order, including the warm-up's. */
  requests: number
  /** Length of the measured part, in milliseconds. */
  wallMs: number
  /** CPU time of the load generator in the measured part, in milliseconds. */
  cpuMs: number
}
