/** The scheduling class of a tenant's calls: tenants share the engine by the rates of their contracts. */
import type { SchedulingClass } from '../biometrics/types.js'
import type { Environment } from '../config/config.js'
import type { TenantContract } from '../tenants/tenancy.js'

export function schedulingClassOf(
  { holder, ratePerSecond }: TenantContract,
  environment: Environment,
): SchedulingClass {
  return { flow: holder, priority: environment, weight: ratePerSecond }
}
