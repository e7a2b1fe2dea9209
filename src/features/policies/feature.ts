/** Policies of tenants: what an approval of an action has to meet, a second person among it, and the erasure of users whom nobody uses. */
import type { Feature } from '../feature.js'
import { InactiveUsers } from './inactive-users.js'
import { challengePart, enrollPart, verifyPart } from './parts.js'

export const policies: Feature = {
  parts: { verify: verifyPart, enroll: enrollPart, challenge: challengePart },
  attach(host) {
    const inactiveUsers = new InactiveUsers(host)
    return { afterExpiry: (isOn) => inactiveUsers.run(isOn) }
  },
}
