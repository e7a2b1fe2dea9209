/** Prometheus metrics by tenant. The number of tenants with series of their own is bounded, so that memory and queries do not grow with customers. */
import { Counter, type Registry } from 'prom-client'
import type { Observation } from '../observation/observation.js'

/** Label of all tenants beyond the bound. No tenant can have this name: theirs begin with a letter or digit. */
export const OTHERS = '_others'

export class TenantMetrics {
  private readonly names = new Set<string>()
  private readonly requests: Counter<'tenant' | 'environment' | 'status'>
  private readonly verdicts: Counter<'tenant' | 'environment' | 'verdict'>

  /** @param limit number of tenants with series of their own: those that call first after the start; 0 for no such metrics */
  constructor(
    registry: Registry,
    private readonly limit: number,
  ) {
    const registers = [registry]
    this.requests = new Counter({
      name: 'countersign_tenant_requests_total',
      help: 'Requests of a tenant answered, by class of status; tenants beyond COUNTERSIGN_METRICS_TENANTS are counted as _others.',
      labelNames: ['tenant', 'environment', 'status'],
      registers,
    })
    this.verdicts = new Counter({
      name: 'countersign_tenant_verdicts_total',
      help: 'Verdicts given to a tenant.',
      labelNames: ['tenant', 'environment', 'verdict'],
      registers,
    })
  }

  observe({ tenantName, environment, status, verdict }: Observation): void {
    if (tenantName === undefined || this.limit === 0) return
    const tenant = this.labelOf(tenantName)
    this.requests.inc({ tenant, environment, status: `${Math.floor(status / 100)}xx` })
    if (verdict) this.verdicts.inc({ tenant, environment, verdict })
  }

  /** The name of a tenant that has series of its own, or the label of all others. */
  labelOf(name: string): string {
    if (this.names.size < this.limit) this.names.add(name)
    return this.names.has(name) ? name : OTHERS
  }
}
