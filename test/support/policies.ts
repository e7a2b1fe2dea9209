/** Puts a policy of a tenant in force, as the command line does. */
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { Environment } from '../../src/config/config.js'
import type { ActionPolicy } from '../../src/contract/action-policy.js'
import { PolicyOperations } from '../../src/features/policies/policy-operations.js'
import type { TestService } from './service.js'

interface Running extends Pick<TestService, 'clock'> {
  service: Pick<TestService['service'], 'core'>
}

export function policyOperations({ service, clock }: Running): PolicyOperations {
  return new PolicyOperations({ ...service.core, clock })
}

/** @param tenant id or name @param policy null for none */
export async function setPolicy(
  running: Running,
  tenant: string,
  policy: ActionPolicy | null,
  environments: readonly Environment[] = ['production', 'sandbox'],
) {
  const record = await running.service.core.tenancy.find(tenant)
  return policyOperations(running).set(record, COMMAND_LINE, policy, environments)
}
