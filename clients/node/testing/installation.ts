/** The parts of the service in memory that its calls share. */
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import type { SigningSecret } from '../signing-secret.js'
import type { FakeOptions } from './fake-options.js'
import type { FakeVerdict } from './signatures.js'
import type { FakeSecrets } from './signing-secrets.js'
import type { FakeVerdictKeys } from './verdict-keys.js'

type Settings = 'baseUrl' | 'clock' | 'jwtTtlSeconds' | 'replayPolicy' | 'checksLiveness' | 'modelGrade'

export interface FakeInstallation
  extends Required<Pick<FakeOptions, Settings>>,
    Pick<
      { [Name in keyof FakeOptions]: FakeOptions[Name] | undefined },
      'passkeys' | 'returnOrigins' | 'scopes'
    > {
  /** Null for a tenant without one. */
  policy: ActionPolicy | null
  readonly signing: FakeSecrets
  readonly verdictKeys: FakeVerdictKeys
  signVerdict(verdict: FakeVerdict, secret: SigningSecret, atMs: number): Promise<string>
}
