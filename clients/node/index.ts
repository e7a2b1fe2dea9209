/** `countersign/client` needs only Web APIs and jose: it runs on Node, Bun, Deno and edge runtimes. */

export { actionHash } from '../../src/contract/action-hash.js'
export {
  type ActionDisplay,
  DISPLAY_VERSION,
  type DisplayLine,
  displayAction,
} from '../../src/contract/actions/display-action.js'
export { CURRENCIES, minorUnits } from '../../src/contract/actions/money.js'
export type { SchemaFault } from '../../src/contract/actions/schema-check.js'
export { typedActionFaults } from '../../src/contract/actions/typed-action-check.js'
export {
  type AccountChangeAction,
  type ConsentAction,
  type GenericAction,
  type LoginAction,
  type Payee,
  type PaymentAction,
  type PaymentBatchAction,
  TYPED_ACTION_TYPES,
  type TypedAction,
  type TypedActionType,
  typedActionType,
} from '../../src/contract/actions/typed-actions.js'
export { canonicalJson } from '../../src/contract/canonical-json.js'
export {
  ERROR_CATEGORIES,
  ERROR_CODES,
  type ErrorCategory,
  type ErrorCode,
} from '../../src/contract/error-codes.js'
export { DISPLAY_LOCALES, type DisplayLocale } from '../../src/contract/locales.js'
export { ACR_VALUES, ACTIVE_ACR, type Acr, PASSKEY_ACR } from './acr.js'
export type * from './capture-session.js'
export type { CallOptions, CountersignOptions } from './client-options.js'
export { type Answer, Countersign } from './countersign.js'
export { displayHash } from './display-hash.js'
export {
  type AnyErrorCode,
  ApiError,
  ConnectionError,
  CountersignError,
  type ErrorDetail,
  SignatureError,
  type SignatureErrorCode,
  TimeoutError,
  UnexpectedResponseError,
  VerdictError,
  type VerdictErrorCode,
} from './errors.js'
export type { HeaderValue, WebhookHeaders } from './headers.js'
export { type PaymentBatch, paymentBatch, typedAction } from './make-action.js'
export type { Hooks, Logger, ResponseEvent, ResponseInfo, RetryEvent } from './observer.js'
export { type PostgresQueries, PostgresReplayStore } from './postgres-replay-store.js'
export { type RedisCommands, RedisReplayStore } from './redis-replay-store.js'
export { MemoryReplayStore, type ReplayStore } from './replay-store.js'
export { assertResponseSignature, type SignatureOptions, type SignedResponse } from './response-signature.js'
export type { SigningSecret, SigningSecretSource, SigningSecrets } from './signing-secret.js'
export { createStepUp, type StepUpBody, type StepUpOptions, type StepUpOutcome } from './step-up.js'
export type * from './types.js'
export {
  type VerdictExpectations,
  type VerdictSource,
  type VerdictTrust,
  type VerdictVerifier,
  verifyVerdict,
} from './verdict.js'
export type { VerdictTokens } from './verdict-token.js'
export { verifyWebhook, type WebhookOptions } from './webhook.js'
