/** The drift of a tenant as the command and the dashboard show it. */
import type { Calibration } from '../../../../models/pack/calibration.js'
import type { Engine } from '../../../biometrics/engine/engine.js'
import { DAY_MS, isoTime, optionalTime } from '../../../lib/clock.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreReader } from '../../../storage/store.js'
import { decidingModel } from '../../../tenants/tenant-models.js'
import { BINS, type Histogram, totalOf } from '../histogram.js'
import { sumOfCounts } from './drift-counts.js'
import { type CountedPeriod, DriftBaseline, type DriftReport } from './drift-report.js'
import { readHistories } from './drift-rows.js'

/** How a service decides by the packs that it has loaded. */
export interface ServedModels {
  /** Undefined where the model is not served or has no calibration that was measured. */
  calibrationOf: (model: string) => Calibration | undefined
  modelOf: (tenant: TenantRecord) => string
}

export function servedModels({ pack, packs }: Pick<Engine, 'pack' | 'packs'>): ServedModels {
  return {
    calibrationOf: (model) => packs.get(model)?.calibration,
    modelOf: (tenant) => decidingModel(tenant, pack.modelId, packs),
  }
}

/** One view for each model that judged verifies of the last five weeks; the one that decides is the first. */
export async function driftViews(
  tenant: TenantRecord,
  read: Pick<StoreReader, 'statements'>,
  now: number,
  { calibrationOf, modelOf }: ServedModels,
) {
  const { driftSince } = tenant
  const histories = await readHistories(read, tenant.id, now)
  const deciding = modelOf(tenant)
  const views = [...histories].map(([model, { periods, blocks }]) => {
    const baseline = new DriftBaseline(periods, now, calibrationOf(model), driftSince ?? 0)
    const { month, windows, comparisons, alarms } = baseline.report(blocks, now)
    return {
      model,
      /** Whether this model decides for the tenant now. Only then an alarm is raised. */
      decides: model === deciding,
      /** Time from which verifies are compared; null for all that are kept. */
      since: optionalTime(driftSince),
      month: sideView(month),
      windows: { latest: sideView(windows.latest), week: sideView(windows.week) },
      comparisons: comparisons.map((one) => ({ ...one, psi: rounded(one.psi), noise: rounded(one.noise) })),
      alarms,
      /** Oldest first; days without a verify are left out. */
      days: daysOf(periods),
    }
  })
  return views.toSorted((one, other) => Number(other.decides) - Number(one.decides))
}

export type DriftView = Awaited<ReturnType<typeof driftViews>>[number]
export type DriftSide = DriftView['month']
export type DriftDay = DriftView['days'][number]

function sideView({ from, to, total }: DriftReport['month']) {
  const { scores, quality, outcomes } = total
  return { from: isoTime(from), to: isoTime(to), verifies: totalOf(outcomes), scores, quality, outcomes }
}

function daysOf(periods: readonly CountedPeriod[]) {
  const starts = [...new Set(periods.map(({ at }) => Math.floor(at / DAY_MS)))]
  return starts.map((day) => {
    const ofDay = periods.filter(({ at }) => Math.floor(at / DAY_MS) === day)
    const { outcomes, scores, quality } = sumOfCounts(ofDay.map(({ counts }) => counts))
    const verifies = totalOf(outcomes)
    return {
      day: isoTime(day * DAY_MS).slice(0, 10),
      verifies,
      /** Share of the verifies that were not approved, 0 to 1. */
      failed: rounded(1 - (outcomes.approved ?? 0) / verifies),
      /** Means over the approvals and over the judged pictures; null without any. */
      score: meanOf(scores),
      quality: meanOf(quality),
    }
  })
}

/** The mean of the middles of the bins. */
function meanOf(histogram: Histogram): number | null {
  const total = totalOf(histogram)
  if (total === 0) return null
  const sum = Object.entries(histogram).reduce((all, [bin, count]) => all + (Number(bin) + 0.5) * count, 0)
  return rounded(sum / total / BINS)
}

function rounded(value: number): number {
  return Number(value.toFixed(4))
}
