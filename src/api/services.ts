/** The parts that endpoints use: the composition root builds one set for each environment. Each endpoint names those it takes. */

import type { Operations } from '../admin/operations.js'
import type { EngineHealth } from '../biometrics/types.js'
import type { Config, Environment } from '../config/config.js'
import type { PublicListener } from '../config/listener-settings.js'
import type { Events } from '../events/events.js'
import type { Idempotency } from '../idempotency/idempotency.js'
import type { Clock } from '../lib/clock.js'
import type { Store } from '../storage/store.js'
import type { TemplateVault } from '../users/template-vault.js'
import type { BiometricProvider } from '../verification/biometric-provider.js'
import type { CaptureMemory } from '../verification/capture/capture-memory.js'
import type { Lockout } from '../verification/lockout/attempt-lockout.js'
import type { ProductionKeyIssue } from '../verification/sandbox/production-key.js'
import type { UserQuota } from '../verification/sandbox/user-quota.js'
import type { WatchVerify } from '../verification/verdict.js'
import type { VerdictLifetime } from '../verification/verdict-token.js'
import type { VerificationBook } from '../verification/verification-book.js'
import type { AuditPages } from './audit-pages.js'

export interface Services {
  environment: Environment
  clock: Clock
  config: Pick<Config, 'fmr' | 'jwtTtlSeconds' | 'referenceAgeingDays' | 'replayPolicy' | 'requireLiveness'>
  store: Store
  vault: TemplateVault
  events: Events
  operations: Pick<Operations, 'audited' | 'keys' | 'users'>
  provider: BiometricProvider
  lockout: Lockout
  captures: CaptureMemory
  userQuota: UserQuota
  verdictLifetime: VerdictLifetime
  productionKeyIssue: ProductionKeyIssue
  verifications: VerificationBook
  /** They look at each verify; none in the sandbox. */
  watchers: readonly WatchVerify[]
  /** Origin under which browsers reach a listener of this service; null where it is not served. */
  origin(listener: PublicListener): string | null
  idempotency: Pick<Idempotency, 'kept'>
  auditPages: AuditPages
  /** Base URLs of both environments. */
  urls(): Readonly<Record<Environment, string>>
  /** Base URL of the environment: the `iss` of its JWTs. */
  issuer(): string
  engineHealth(): EngineHealth
  version: string
  transport: HttpTransport
}

/** The HTTP server that serves, and why that one. */
interface HttpTransport {
  name: 'uws' | 'node'
  reason: 'preferred' | 'configured' | 'unavailable'
}
