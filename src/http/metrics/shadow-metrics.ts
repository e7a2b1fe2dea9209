/**
 * Counts which verdicts of production a candidate false match rate would change, by tenant. It reads answered requests: it has no
 * part in a verdict and no time of one, and it knows no user.
 */
import { Counter, type Registry } from 'prom-client'
import type { Observation } from '../observation/observation.js'
import { OTHERS } from './tenant-metrics.js'

/** Changes of a verdict by a candidate; `rejected` and `approved` are the verdicts that it would give instead. */
const CHANGES = ['none', 'rejected', 'approved'] as const

/**
 * Lowest score that the candidate rate would approve with a model, or null where it is unknown.
 * @param model id of the pack that judged the images; undefined for the primary one
 */
export type CandidateThreshold = (model: string | undefined) => number | null

export class ShadowMetrics {
  private readonly verdicts: Counter<'tenant' | 'change'>
  private thresholdOf: CandidateThreshold | null = null

  /** @param labelOf label of a tenant, from its name */
  constructor(
    registry: Registry,
    private readonly labelOf: (tenantName: string) => string,
  ) {
    this.verdicts = new Counter({
      name: 'countersign_shadow_verdicts_total',
      help: 'Verdicts of production that compared a face, by what COUNTERSIGN_SHADOW_FMR would have made of them: none for the same verdict, or the other verdict.',
      labelNames: ['tenant', 'change'],
      registers: [registry],
    })
    for (const change of CHANGES) this.verdicts.inc({ tenant: OTHERS, change }, 0)
  }

  /** Counts from now on. */
  start(thresholdOf: CandidateThreshold): void {
    this.thresholdOf = thresholdOf
  }

  observe({ environment, tenantName, verdict, reason, score, model }: Observation): void {
    if (!this.thresholdOf || environment !== 'production' || tenantName === undefined) return
    if (!verdict || typeof score !== 'number') return
    // A rejection for another reason than the face stays one under every threshold.
    const isMatch = verdict === 'approved'
    if (!isMatch && reason !== 'no_match') return
    const threshold = this.thresholdOf(model)
    if (threshold === null) return
    const wouldMatch = score >= threshold
    const change = wouldMatch === isMatch ? 'none' : wouldMatch ? 'approved' : 'rejected'
    this.verdicts.inc({ tenant: this.labelOf(tenantName), change })
  }
}
