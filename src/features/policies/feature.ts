/** Policies of tenants: what an approval of an action has to meet, a second person among it, and the erasure of users whom nobody uses. */
import type { Feature } from '../feature.js'
import { policyRoutes } from './console-routes.js'
import { InactiveUsers } from './inactive-users.js'
import { challengePart, enrollPart, verifyPart } from './parts.js'
import type { PolicyError } from './policy.js'
import type { PolicyOperationError } from './policy-operations.js'

const STATUSES = {
  invalid_policy: 400,
  policy_not_found: 404,
  services_outdated: 409,
} satisfies Record<(PolicyError | PolicyOperationError)['code'], number>

export const policies: Feature = {
  parts: { verify: verifyPart, enroll: enrollPart, challenge: challengePart },
  statuses: STATUSES,
  attach(host) {
    const inactiveUsers = new InactiveUsers(host)
    return { afterExpiry: (isOn) => inactiveUsers.run(isOn), console: policyRoutes(host) }
  },
}
