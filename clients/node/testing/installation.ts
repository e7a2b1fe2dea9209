/** The parts of the service in memory that its users and verdicts share. */
import type { SigningSecret } from '../signing-secret.js'
import type { ModelGrade } from '../types.js'
import type { FakePolicy } from './policy.js'
import type { FakeVerdict } from './signatures.js'
import type { FakeSecrets } from './signing-secrets.js'
import type { TestClock } from './test-clock.js'
import type { FakeVerdictKeys } from './verdict-keys.js'

export interface FakeInstallation {
  readonly clock: TestClock
  readonly signing: FakeSecrets
  readonly verdictKeys: FakeVerdictKeys
  readonly policy: FakePolicy
  readonly jwtTtlSeconds: number
  readonly replayPolicy: 'mark' | 'reject'
  readonly checksLiveness: boolean
  readonly modelGrade: ModelGrade
  signVerdict(verdict: FakeVerdict, secret: SigningSecret, atMs: number): Promise<string>
}
