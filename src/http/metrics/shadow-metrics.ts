/** Counts what a candidate would make of the verdicts of production, by tenant, and the verifies that it did not get to compare. */
import { Counter, type Registry } from 'prom-client'
import type { ShadowObserver } from '../../shadow/shadow.js'
import { UNCOMPARED } from '../../shadow/shadow-counts.js'
import { OTHERS } from './tenant-metrics.js'

/** Changes of a verdict by a candidate; `rejected` and `approved` are the verdicts that it would give instead. */
const CHANGES = ['none', 'rejected', 'approved'] as const

export class ShadowMetrics implements ShadowObserver {
  private readonly verdicts: Counter<'tenant' | 'change'>
  private readonly uncompared: Counter<'reason'>

  /** @param labelOf label of a tenant, from its name */
  constructor(
    registry: Registry,
    private readonly labelOf: (tenantName: string) => string,
  ) {
    this.verdicts = new Counter({
      name: 'countersign_shadow_verdicts_total',
      help: 'Verifies of production that the candidate in shadow judged too, by what it would have made of the verdict: none for the same verdict, or the other verdict.',
      labelNames: ['tenant', 'change'],
      registers: [registry],
    })
    this.uncompared = new Counter({
      name: 'countersign_shadow_uncompared_total',
      help: 'Verifies that the candidate in shadow was to see and did not compare: the user has no template of its pack, no worker was idle, it cannot judge challenges, or it failed.',
      labelNames: ['reason'],
      registers: [registry],
    })
    for (const change of CHANGES) this.verdicts.inc({ tenant: OTHERS, change }, 0)
    for (const reason of UNCOMPARED) this.uncompared.inc({ reason }, 0)
  }

  readonly countVerdict: ShadowObserver['countVerdict'] = (tenantName, change) => {
    this.verdicts.inc({ tenant: this.labelOf(tenantName), change })
  }

  readonly countUncompared: ShadowObserver['countUncompared'] = (reason) => {
    this.uncompared.inc({ reason })
  }
}
