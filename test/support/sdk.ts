/** The SDK as a tenant's backend has it. */
import { Countersign, type CountersignOptions } from '../../clients/node/index.js'
import type { TestService, TestTenant } from './service.js'

/** A client of the tenant's sandbox by the service's clock, unless the options say otherwise. */
export function sandboxSdk(
  running: TestService,
  tenant: TestTenant,
  options: Partial<CountersignOptions> = {},
): Countersign {
  return new Countersign({
    apiKey: tenant.sandboxKey,
    baseUrl: running.service.url('sandbox'),
    signingSecret: tenant.secret,
    tenantId: tenant.id,
    now: () => running.clock.now(),
    ...options,
  })
}
