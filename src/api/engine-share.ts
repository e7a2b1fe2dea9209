/** The scheduling class of a tenant at the engine, by the tenant's contract. */
import type { FlowShare } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { TenantContract } from '../tenants/tenancy.js'

export function engineShare({ holder, ratePerSecond }: TenantContract, environment: Environment): FlowShare {
  return { flow: holder, priority: environment, weight: ratePerSecond }
}
