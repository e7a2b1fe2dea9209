/** Counts what a candidate would make of the verdicts of production, by tenant, and the verifies that it did not get to compare. */
import { Counter } from 'prom-client'
import type { Metrics } from '../../../http/metrics/metrics.js'
import { OTHERS } from '../../../http/metrics/tenant-metrics.js'
import type { ShadowObserver } from './shadow.js'
import { UNCOMPARED } from './shadow-counts.js'

/** Changes of a verdict by a candidate; `rejected` and `approved` are the verdicts that it would give instead. */
const CHANGES = ['none', 'rejected', 'approved'] as const

export class ShadowMetrics implements ShadowObserver {
  private readonly verdicts: Counter<'tenant' | 'change'>
  private readonly uncompared: Counter<'reason'>

  constructor(private readonly metrics: Metrics) {
    const registers = [metrics.registry]
    this.verdicts = new Counter({
      name: 'countersign_shadow_verdicts_total',
      help: 'Production verifications that the candidate in shadow judged too; change is none for the same verdict, or the other verdict.',
      labelNames: ['tenant', 'change'],
      registers,
    })
    this.uncompared = new Counter({
      name: 'countersign_shadow_uncompared_total',
      help: 'Verifications that the candidate in shadow did not compare: no template of its pack, no idle worker, a challenge that it cannot judge, or a failure.',
      labelNames: ['reason'],
      registers,
    })
    for (const change of CHANGES) this.verdicts.inc({ tenant: OTHERS, change }, 0)
    for (const reason of UNCOMPARED) this.uncompared.inc({ reason }, 0)
  }

  readonly countVerdict: ShadowObserver['countVerdict'] = (tenantName, change) => {
    this.verdicts.inc({ tenant: this.metrics.tenantLabel(tenantName), change })
  }

  readonly countUncompared: ShadowObserver['countUncompared'] = (reason) => {
    this.uncompared.inc({ reason })
  }
}
