/** Names of operations for generators of clients, and the topics under which the document lists them. */
import type { EndpointDescription } from '../../api/endpoint.js'

type Topic =
  | 'enrollment'
  | 'verification'
  | 'liveness'
  | 'capture'
  | 'passkeys'
  | 'erasure'
  | 'keys'
  | 'audit'
  | 'status'
  | 'webhooks'

export const TOPICS: Readonly<Record<Topic, string>> = {
  enrollment: 'Enroll users and look them up.',
  verification: 'Ask at a risky action whether it is the enrolled person, and look verdicts up.',
  liveness: 'Challenges for a person in front of the camera, and guidance meanwhile.',
  capture: 'The hosted capture page.',
  passkeys: 'Register passkeys, and have them sign for an action together with the face.',
  erasure: 'Erase users.',
  keys: 'Rotate the signing secret.',
  audit: 'Read the audit log.',
  status: 'Status of the service.',
  webhooks: 'Requests that the service sends to the webhooks of a tenant.',
}

interface Names {
  topic: Topic
  /** `operationId`: a verb and its object. */
  operationId: string
  /** The method of the SDK for TypeScript. */
  sdkName: string
}

export const OPERATION_NAMES: Readonly<Record<EndpointDescription['id'], Names>> = {
  enroll: { topic: 'enrollment', operationId: 'enroll', sdkName: 'enroll' },
  record_consent: { topic: 'enrollment', operationId: 'record_consent', sdkName: 'recordConsent' },
  get_user: { topic: 'enrollment', operationId: 'get_user', sdkName: 'getUser' },
  verify: { topic: 'verification', operationId: 'verify', sdkName: 'verify' },
  get_verification: { topic: 'verification', operationId: 'get_verification', sdkName: 'getVerification' },
  create_challenge: { topic: 'liveness', operationId: 'create_challenge', sdkName: 'createChallenge' },
  guide: { topic: 'liveness', operationId: 'get_guidance', sdkName: 'guide' },
  create_capture_session: {
    topic: 'capture',
    operationId: 'create_capture_session',
    sdkName: 'createCaptureSession',
  },
  get_capture_session: {
    topic: 'capture',
    operationId: 'get_capture_session',
    sdkName: 'getCaptureSession',
  },
  begin_passkey_registration: {
    topic: 'passkeys',
    operationId: 'begin_passkey_registration',
    sdkName: 'beginPasskeyRegistration',
  },
  register_passkey: { topic: 'passkeys', operationId: 'register_passkey', sdkName: 'registerPasskey' },
  list_passkeys: { topic: 'passkeys', operationId: 'list_passkeys', sdkName: 'listPasskeys' },
  revoke_passkey: { topic: 'passkeys', operationId: 'revoke_passkey', sdkName: 'revokePasskey' },
  cancel_passkey_recovery: {
    topic: 'passkeys',
    operationId: 'cancel_passkey_recovery',
    sdkName: 'cancelPasskeyRecovery',
  },
  begin_passkey_assertion: {
    topic: 'passkeys',
    operationId: 'begin_passkey_assertion',
    sdkName: 'beginPasskeyAssertion',
  },
  delete: { topic: 'erasure', operationId: 'erase_user', sdkName: 'delete' },
  rotate_signing: { topic: 'keys', operationId: 'rotate_signing_secret', sdkName: 'rotateSigning' },
  list_audit: { topic: 'audit', operationId: 'list_audit', sdkName: 'auditPage' },
  health: { topic: 'status', operationId: 'get_health', sdkName: 'health' },
}
