/** The table of contents of the core's API: its endpoints, in the order of the specification, then those beyond it. Features add theirs. */

import type { CallParts } from '../../api/call-parts.js'
import type { AnyEndpoint, EndpointDescription } from '../../api/endpoint.js'
import { deleteDescription, erase } from '../../api/endpoints/delete.js'
import { enroll, enrollDescription } from '../../api/endpoints/enroll.js'
import { getUser, getUserDescription } from '../../api/endpoints/get-user.js'
import { getVerification, getVerificationDescription } from '../../api/endpoints/get-verification.js'
import { health, healthDescription } from '../../api/endpoints/health.js'
import { listAudit, listAuditDescription } from '../../api/endpoints/list-audit.js'
import { rotateSigning, rotateSigningDescription } from '../../api/endpoints/rotate-signing.js'
import { verify, verifyDescription } from '../../api/endpoints/verify.js'
import type { Services } from '../../api/services.js'

/** Descriptions of the core's endpoints. @param parts what features add to them */
export const coreDescriptions = (parts: CallParts): EndpointDescription[] => [
  enrollDescription(parts),
  verifyDescription(parts),
  deleteDescription,
  healthDescription,
  rotateSigningDescription,
  getUserDescription(parts.user),
  listAuditDescription,
  getVerificationDescription(parts.lookup),
]

/** Path of the page that explains every error code, where a feature serves one: `doc_url` of an error leads there. */
export const ERRORS_PATH = '/errors'

/** The core's endpoints over one environment's services. */
export function coreEndpoints(services: Services, parts: CallParts): AnyEndpoint[] {
  return [
    enroll(services, parts),
    verify(services, parts),
    erase(services),
    health(services),
    rotateSigning(services),
    getUser(services, parts.user),
    listAudit(services),
    getVerification(services, parts.lookup),
  ]
}
