/** Counts what a candidate would make of the verdicts of production, by tenant, and the verifies that it did not get to compare. */
import { Counter } from 'prom-client'
import type { Metrics } from '../../../http/metrics/metrics.js'
import { OTHERS } from '../../../http/metrics/tenant-metrics.js'
import { UNCOMPARED, type Uncompared } from './shadow-counts.js'

/** Changes of a verdict by a candidate; `rejected` and `approved` are the verdicts that it would give instead. */
const CHANGES = ['none', 'rejected', 'approved'] as const

export function shadowMetrics({ registry, tenantLabel }: Metrics) {
  const registers = [registry]
  const verdicts = new Counter({
    name: 'countersign_shadow_verdicts_total',
    help: 'Production verifications that the candidate in shadow judged too; change is none for the same verdict, or the other verdict.',
    labelNames: ['tenant', 'change'],
    registers,
  })
  const uncompared = new Counter({
    name: 'countersign_shadow_uncompared_total',
    help: 'Verifications that the candidate in shadow did not compare: no template of its pack, no idle worker, a challenge that it cannot judge, or a failure.',
    labelNames: ['reason'],
    registers,
  })
  for (const change of CHANGES) verdicts.inc({ tenant: OTHERS, change }, 0)
  for (const reason of UNCOMPARED) uncompared.inc({ reason }, 0)
  return {
    countVerdict(tenantName: string, change: (typeof CHANGES)[number]) {
      verdicts.inc({ tenant: tenantLabel(tenantName), change })
    },
    countUncompared(reason: Uncompared) {
      uncompared.inc({ reason })
    },
  }
}

export type ShadowObserver = ReturnType<typeof shadowMetrics>
