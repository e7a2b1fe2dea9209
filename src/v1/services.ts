/** What the endpoints work with; one set an environment, built by the composition root. */
import type { EngineHealth } from '../biometrics/types.js'
import type { Clock } from '../clock.js'
import type { Config } from '../config.js'
import type { Operations } from '../operations/operations.js'
import type { Store } from '../storage/store.js'
import type { AttemptGate } from '../subjects/attempt-gate.js'
import type { SubjectVault } from '../subjects/subject-vault.js'
import type { Recogniser } from './recogniser.js'

export interface Services {
  clock: Clock
  config: Pick<Config, 'fmr' | 'jwtTtlSeconds' | 'lockoutAttempts' | 'replayPolicy'>
  store: Store
  vault: SubjectVault
  gate: AttemptGate
  operations: Pick<Operations, 'keys' | 'users'>
  recogniser: Recogniser
  /** Base URL, the `iss` of JWTs. */
  issuer(): string
  engineHealth(): EngineHealth
  version: string
}
