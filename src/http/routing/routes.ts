/** The table of contents of the core's API: its endpoints, in the order of the specification, then those beyond it. Features add theirs. */
import { cancelPasskeyRecovery, cancelPasskeyRecoveryDescription } from '../../api/cancel-passkey-recovery.js'
import { createCaptureSession, createCaptureSessionDescription } from '../../api/capture-sessions.js'
import { createChallenge, createChallengeDescription } from '../../api/challenges.js'
import { deleteDescription, erase } from '../../api/delete.js'
import type { AnyEndpoint, EndpointDescription } from '../../api/endpoint.js'
import { enroll, enrollDescription } from '../../api/enroll.js'
import { getCaptureSession, getCaptureSessionDescription } from '../../api/get-capture-session.js'
import { getUser, getUserDescription } from '../../api/get-user.js'
import { getVerification, getVerificationDescription } from '../../api/get-verification.js'
import { guide, guideDescription } from '../../api/guidance.js'
import { health, healthDescription } from '../../api/health.js'
import { listAudit, listAuditDescription } from '../../api/list-audit.js'
import { listPasskeys, listPasskeysDescription } from '../../api/list-passkeys.js'
import { beginPasskeyAssertion, beginPasskeyAssertionDescription } from '../../api/passkey-assertion.js'
import {
  beginPasskeyRegistration,
  beginPasskeyRegistrationDescription,
} from '../../api/passkey-registration.js'
import { registerPasskey, registerPasskeyDescription } from '../../api/register-passkey.js'
import { revokePasskey, revokePasskeyDescription } from '../../api/revoke-passkey.js'
import { rotateSigning, rotateSigningDescription } from '../../api/rotate-signing.js'
import type { Services } from '../../api/services.js'
import { verify, verifyDescription } from '../../api/verify.js'

/** Descriptions of the core's endpoints. */
export const CORE_DESCRIPTIONS: EndpointDescription[] = [
  enrollDescription,
  verifyDescription,
  deleteDescription,
  healthDescription,
  rotateSigningDescription,
  getUserDescription,
  listAuditDescription,
  createChallengeDescription,
  guideDescription,
  createCaptureSessionDescription,
  getCaptureSessionDescription,
  getVerificationDescription,
  beginPasskeyRegistrationDescription,
  registerPasskeyDescription,
  listPasskeysDescription,
  beginPasskeyAssertionDescription,
  cancelPasskeyRecoveryDescription,
  revokePasskeyDescription,
]

/** Path of the OpenAPI document, which both APIs serve without a key. */
export const OPENAPI_PATH = '/v1/openapi.json'
/** Path of the page that explains every error code; `doc_url` of an error leads there. */
export const ERRORS_PATH = '/errors'
/** Path of the public keys that check an environment's verdicts. */
export const JWKS_PATH = '/v1/.well-known/jwks.json'
/** Path of the metadata that names the keys: a verifier puts its end behind the `iss` of a token. */
export const METADATA_PATH = '/v1/.well-known/openid-configuration'
/** Paths that `publicDocument` answers. */
export const DOCUMENT_PATHS: readonly string[] = [OPENAPI_PATH, ERRORS_PATH, JWKS_PATH, METADATA_PATH]

/** The core's endpoints over one environment's services. */
export function coreEndpoints(services: Services): AnyEndpoint[] {
  return [
    enroll(services),
    verify(services),
    erase(services),
    health(services),
    rotateSigning(services),
    getUser(services),
    listAudit(services),
    createChallenge(services),
    guide(services),
    createCaptureSession(services),
    getCaptureSession(services),
    getVerification(services),
    beginPasskeyRegistration(services),
    registerPasskey(services),
    listPasskeys(services),
    beginPasskeyAssertion(services),
    cancelPasskeyRecovery(services),
    // Behind the addresses with a word where this one has a parameter: the first that fits is taken.
    revokePasskey(services),
  ]
}
