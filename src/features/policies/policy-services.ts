/** The parts of one environment that the calls under a policy use. */
import type { Services } from '../../api/services.js'
import { type PolicyBook, policyBook } from './policy-book.js'
import { SecondApproval } from './second-approval.js'

export interface PolicyServices extends Services {
  policies: PolicyBook
  secondApproval: SecondApproval
}

export function policyServices(services: Services): PolicyServices {
  return {
    ...services,
    policies: policyBook(services.store),
    secondApproval: new SecondApproval(services.vault),
  }
}
