/** What the endpoints work with; one set an environment, built by the composition root. */

import type { Operations } from '../admin/operations.js'
import type { EngineHealth } from '../biometrics/types.js'
import type { Config } from '../config/config.js'
import type { Idempotency } from '../idempotency/idempotency.js'
import type { Clock } from '../lib/clock.js'
import type { Store } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { Lockout } from '../verification/attempt-lockout.js'
import type { BiometricProvider } from '../verification/biometric-provider.js'
import type { CaptureMemory } from '../verification/capture-memory.js'
import type { CaptureSessionBook } from '../verification/capture-session-book.js'
import type { ChallengeBook } from '../verification/challenge-book.js'
import type { SandboxUsers } from '../verification/sandbox-users.js'
import type { Outbox } from '../webhooks/outbox.js'

export interface Services {
  clock: Clock
  config: Pick<
    Config,
    | 'fmr'
    | 'jwtTtlSeconds'
    | 'replayPolicy'
    | 'requireLiveness'
    | 'challengeTtlSeconds'
    | 'captureSessionTtlSeconds'
  >
  store: Store
  vault: TemplateVault
  outbox: Outbox
  operations: Pick<Operations, 'keys' | 'users'>
  provider: BiometricProvider
  lockout: Lockout
  captures: CaptureMemory
  sandboxUsers: SandboxUsers
  challenges: ChallengeBook
  captureSessions: CaptureSessionBook
  /** Origin of the hosted capture page; null where it is not served. */
  capturePage(): string | null
  idempotency: Pick<Idempotency, 'kept'>
  /** The first entry of a tenant's audit log that does not fit, as the last verification found; null where it found none. */
  auditBreak(tenantId: string): Promise<number | null>
  /** Base URL, the `iss` of JWTs. */
  issuer(): string
  engineHealth(): EngineHealth
  version: string
  transport: HttpTransport
}

/** The HTTP server that serves. */
export interface HttpTransport {
  name: 'uws' | 'node'
  reason: 'preferred' | 'configured' | 'unavailable'
}
