/** Options of the service in memory. */
import type { ActionPolicy } from '../../../src/contract/action-policy.js'
import type { Environment, ModelGrade, Scope } from '../types.js'
import type { TestClock } from './test-clock.js'

/** How the tenant of a `FakeCountersign` uses passkeys: the settings that an operator makes with `countersign tenant passkeys`. */
export interface FakePasskeySettings {
  /** Domain of the passkeys; default `bank.example`. */
  rpId?: string
  /** Whether a passkey that its provider copies to other devices counts as `swk`, the default, or is refused. */
  synced?: 'swk' | 'refused'
  /** Whether the operator has named authorities that attest authenticators: `device_bound` passkeys then count as `hwk`. Default false. */
  attestation?: boolean
  /** Whether a registration needs a fresh approved verification with a check of liveness, the default, or only the API key. */
  registration?: 'verified' | 'backend'
}

/** Options of `new FakeCountersign(…)`. */
export interface FakeOptions {
  /** Address of the API, for a process that serves `fetch` there; default `https://countersign.test/v1`. */
  baseUrl?: string
  /** Environment of the API key; default `sandbox`. */
  environment?: Environment
  /** The clock; default: one that stands still until a test moves it. */
  clock?: TestClock
  /** Validity of verdicts in seconds; default 300. */
  jwtTtlSeconds?: number
  /** Whether verify rejects a `+replayed` capture or only marks it; default `reject`, as the service does with the same file. */
  replayPolicy?: 'mark' | 'reject'
  /** Whether the installation's model pack checks liveness; default false, as in the default pack. */
  checksLiveness?: boolean
  /** Grade of the installation's model pack; default `evaluation`, the grade of the default pack. */
  modelGrade?: ModelGrade
  /** Origins that `return_url` may have; default: every https origin, and http on this computer. */
  returnOrigins?: readonly string[]
  /** The tenant's use of passkeys; default: none, and calls about them get 422 `passkeys_unavailable`. Only scripted answers are taken: see `sandboxSignature`. */
  passkeys?: FakePasskeySettings
  /** The tenant's policy, which is not checked for mistakes; default: none. `fake.setPolicy` changes it later. */
  policy?: ActionPolicy
  /** Scopes of the API key; default: it may make every call. A call outside its scopes gets 403 `insufficient_scope`. */
  scopes?: readonly Scope[]
}
