/** Prometheus metrics that compare the latest verifies of tenants with those of the month before and with the calibration. */
import { Gauge } from 'prom-client'
import type { Metrics } from '../../../http/metrics/metrics.js'
import { MEASURES } from './drift-counts.js'
import { DRIFT_WINDOWS, type DriftComparison } from './drift-report.js'
import type { DriftWatch, WatchedDrift } from './drift-watch.js'

/** Label of the tenant whose index is the largest part of its noise. No tenant can have this name: theirs begin with a letter or digit. */
const ALL = '_all'

const COMPARED = DRIFT_WINDOWS.flatMap((window) =>
  MEASURES.map((measure) => ({ measure, window, against: 'month' as const })),
)

/** The tenants with most alarms have series of their own. */
export function showDrift({ registry, tenantLimit }: Metrics, source: Pick<DriftWatch, 'watched'>): void {
  const registers = [registry]
  const labelNames = ['tenant', 'measure', 'window', 'against'] as const
  const gauge = (name: string, help: string, value: 'psi' | 'noise') =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        const { watched } = source
        for (const compared of COMPARED)
          this.set({ tenant: ALL, ...compared }, mostNotable(watched, compared)?.[value] ?? 0)
        const shown = watched
          .toSorted((one, other) => other.alarms.length - one.alarms.length)
          .slice(0, tenantLimit)
        for (const { tenantName: tenant, comparisons } of shown)
          for (const { measure, window, against, ...index } of comparisons.filter(isKnown))
            this.set({ tenant, measure, window, against }, index[value])
      },
    })
  gauge(
    'countersign_drift_psi',
    "Population stability index between a tenant's latest verifications and the month before, or the calibration; 0 for no difference. Tenant _all is the most notable one.",
    'psi',
  )
  gauge(
    'countersign_drift_noise_psi',
    'Largest countersign_drift_psi that chance reaches in 99 of 100 months without a change.',
    'noise',
  )
  new Gauge({
    name: 'countersign_drift_alarms',
    help: 'Tenants whose latest verifications differ from those of the month before, more than by chance and by 0.25 at least.',
    labelNames: ['measure'],
    registers,
    collect() {
      for (const measure of MEASURES)
        this.set({ measure }, source.watched.filter(({ alarms }) => alarms.includes(measure)).length)
    },
  })
}

function isKnown({ state }: DriftComparison): boolean {
  return state !== 'too_few'
}

function mostNotable(
  watched: readonly WatchedDrift[],
  { measure, window, against }: (typeof COMPARED)[number],
): DriftComparison | undefined {
  return watched
    .flatMap(({ comparisons }) => comparisons)
    .filter((one) => one.measure === measure && one.window === window && one.against === against)
    .filter(isKnown)
    .toSorted((one, other) => other.psi / other.noise - one.psi / one.noise)[0]
}
