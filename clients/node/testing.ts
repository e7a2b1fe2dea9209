/** `countersign/client/testing`: a Countersign in memory, for an application's own tests. */
import { SANDBOX_OUTCOMES } from '../../src/contract/sandbox-rules.js'

export {
  PASSKEY_REGISTRATIONS,
  PASSKEY_SIGNATURES,
  type PasskeyRegistrationOutcome,
  type PasskeySignatureOutcome,
  sandboxRegistration,
  sandboxSignature,
} from '../../src/contract/sandbox-passkeys.js'
export type { CapturePageState, FakeCapturePage } from './testing/fake-capture-page.js'
export { FakeCountersign } from './testing/fake-countersign.js'
export type { FakeOptions, FakePasskeySettings } from './testing/fake-options.js'
export type { FakeRequest } from './testing/requests.js'
export * from './testing/signatures.js'
export { TestClock } from './testing/test-clock.js'

/** The endings of a `user_id` that choose an outcome: the same as in the service's sandbox. */
export const FAKE_OUTCOMES: readonly string[] = SANDBOX_OUTCOMES
