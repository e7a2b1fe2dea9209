/** Operations on tenants: create, change the contract, make login links. */
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Clock } from '../lib/clock.js'
import { wire } from '../lib/wire.js'
import type { TenantRecord } from '../storage/records.js'
import type { Contract, CreatedTenant, GrantedContract, Tenancy } from '../tenants/tenancy.js'
import { TenancyError } from '../tenants/tenancy-error.js'
import { createLoginLink } from './accounts/login-link.js'

/** A new tenant, with a link that signs it in to the dashboard, once. */
export type TenantWithLoginLink = CreatedTenant & { loginLink: string }

export class TenantOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly tenancy: Tenancy,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a tenant. The first entry of its audit log has the actor and the contract.
   * @param adminUrl address of the dashboard, without a slash at its end
   * @throws TenancyError invalid_tenant_name, tenant_exists
   */
  create(name: string, actor: Actor, contract: Contract, adminUrl: string): Promise<TenantWithLoginLink> {
    const now = this.clock.now()
    return this.audited.runFound('installation', actor, async (tx) => {
      const created = await this.tenancy.add(tx, name, contract)
      const { tenant } = created
      const loginLink = await createLoginLink(tx, { tenantId: tenant.id, adminUrl, now })
      return {
        tenantId: tenant.id,
        result: { ...created, loginLink },
        facts: { event: 'tenant_created', name, ...contractFacts(tenant) },
      }
    })
  }

  /**
   * @param adminUrl address of the dashboard, without a slash at its end
   * @throws TenancyError tenant_suspended: nobody signs in for a suspended tenant
   */
  createLoginLink({ id: tenantId }: TenantRecord, actor: Actor, adminUrl: string): Promise<string> {
    const now = this.clock.now()
    return this.audited.run(tenantId, actor, async (tx) => {
      const { name, suspendedAt } = (await tx.tenantById(tenantId))!
      if (suspendedAt !== null)
        throw new TenancyError(
          'tenant_suspended',
          `The tenant ${name} is suspended, and nobody can sign in for it. Resume it first.`,
        )
      return {
        result: await createLoginLink(tx, { tenantId, adminUrl, now }),
        facts: { event: 'login_link_made' },
      }
    })
  }

  /** Records in every log that the database was restored to an earlier state. */
  noteRestored(actor: Actor): Promise<void> {
    return this.audited.runForAll(actor, async () => ({
      result: undefined,
      facts: { event: 'database_restored' },
    }))
  }

  /** Changes the rate limit, the false match rate, the liveness requirement and the replacement window. @returns the tenant as it is now */
  setContract({ id }: TenantRecord, actor: Actor, contract: GrantedContract): Promise<TenantRecord> {
    return this.audited.run(id, actor, async (tx) => {
      const previous = contractFacts((await tx.tenantById(id))!)
      await this.tenancy.setContract(tx, id, contract)
      const tenant = (await tx.tenantById(id))!
      return { result: tenant, facts: { event: 'contract_changed', ...contractFacts(tenant), previous } }
    })
  }
}

/** A contract as the audit log records it. Null stands for the configured default. */
function contractFacts(contract: GrantedContract) {
  return wire(contract, 'ratePerSecond', 'fmr', 'requireLiveness', 'replaceVerdictMinutes')
}
