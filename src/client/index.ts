/** `countersign/client` needs only Web APIs and jose: it runs on Node, Bun, Deno and edge runtimes. */
export { ACR_VALUES, ACTIVE_ACR, type Acr, PASSKEY_ACR } from './acr.js'
export { actionHash, canonicalJson } from './canonical-json.js'
export type * from './capture-session.js'
export type { CallOptions, CountersignOptions } from './client-options.js'
export { type Answer, Countersign } from './countersign.js'
export { type ActionDisplay, DISPLAY_VERSION, type DisplayLine, displayAction } from './display-action.js'
export { displayHash } from './display-hash.js'
export { DISPLAY_LOCALES, type DisplayLocale } from './display-texts.js'
export { ERROR_CATEGORIES, ERROR_CODES, type ErrorCategory, type ErrorCode } from './error-codes.js'
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
export { CURRENCIES, minorUnits } from './money.js'
export type { Hooks, Logger, ResponseEvent, ResponseInfo, RetryEvent } from './observer.js'
export { MemoryReplayStore, type ReplayStore } from './replay-store.js'
export { assertResponseSignature, type SignatureOptions, type SignedResponse } from './response-signature.js'
export type { SchemaFault } from './schema-check.js'
export type { SigningSecret, SigningSecretSource, SigningSecrets } from './signing-secret.js'
export { createStepUp, type StepUpBody, type StepUpOptions, type StepUpOutcome } from './step-up.js'
export { typedActionFaults } from './typed-action-check.js'
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
} from './typed-actions.js'
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
