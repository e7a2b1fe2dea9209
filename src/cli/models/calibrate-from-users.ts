/** `countersign models calibrate --from-users`: measures the false match rate between the service's own users, in this process. */
import type { Calibration } from '../../../models/pack/calibration.js'
import { loadModelPack, thresholdForFmr } from '../../../models/pack/model-pack.js'
import type { UsersCalibration } from '../../../tools/evaluation/calibrate-from-users.js'
import { people } from '../../../tools/evaluation/format.js'
import { loadConfig } from '../../app/configuration.js'
import { type Config, modelPackDir } from '../../config/config.js'
import { systemClock } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import type { Told } from '../lib/command.js'
import { CommandError } from '../lib/output.js'
import { progressBar } from '../lib/progress.js'
import { type Field, fields } from '../lib/style.js'
import { withCore } from '../with-core.js'
import {
  applyCalibration,
  type CalibrationChange,
  changeOf,
  gradeChange,
  gradeFields,
} from './write-calibration.js'

/** Seed for drawing people again when intervals are computed. */
const SEED = 1

/** @throws CommandError comparison_not_allowed; CalibrationError too_few_people */
export async function calibrateFromUsers(
  name: string,
  options: { people: number; perSecond: number; dryRun: boolean },
): Promise<Told> {
  const { calibrateFromUsers: calibrate } = await import('../../../tools/evaluation/calibrate-from-users.js')
  const config = loadConfig({ ...process.env, COUNTERSIGN_MODEL_PACK: name })
  const dir = modelPackDir(config)
  const pack = await loadModelPack(dir)
  const found = await withCore(async ({ store, operations, actor }) => {
    const tenants = allowedTenants(config, await store.read.tenants())
    const progress = progressBar('Opening references')
    const order = {
      model: pack.modelId,
      tenants,
      people: options.people,
      perSecond: options.perSecond,
      onProgress: (done: number, total: number) => progress.update(done, total, ''),
    }
    const names = tenants.map((tenant) => tenant.name)
    return operations.samples
      .use(order, actor, (sample) => ({
        ...calibrate({ ...sample, pack, tenants: names, seed: SEED, now: systemClock.now() }),
        dropped: sample.dropped,
      }))
      .finally(() => progress.stop())
  })
  const change = await changeOf(dir, found.calibration, config.fmr)
  const { calibration } = change
  const file = options.dryRun ? null : await applyCalibration(dir, change)
  const before = thresholdForFmr(pack, config.fmr).threshold
  const after = thresholdForFmr({ ...pack, calibration }, config.fmr)
  const result = {
    model: pack.modelId,
    file,
    grade: gradeChange(change),
    threshold: { fmr: after.fmr, before, after: after.threshold, basis: after.basis },
    duplicates_above: found.duplicates.cut,
    users_without_template: found.dropped,
    histogram: found.histogram,
    ...calibration,
  }
  return { view: result, text: fields(view(found, result, change)) }
}

/** @throws CommandError comparison_not_allowed */
function allowedTenants({ compareUsers }: Config, tenants: TenantRecord[]): TenantRecord[] {
  const names = compareUsers ?? []
  const allowed = tenants.filter(
    ({ name, deletedAt }) =>
      deletedAt === null && (names.includes('*') || names.includes(name.toLowerCase())),
  )
  if (allowed.length === 0)
    throw new CommandError(
      'comparison_not_allowed',
      names.length === 0
        ? 'COUNTERSIGN_COMPARE_USERS names no tenant: users are compared with each other only where the operator allows it.'
        : `COUNTERSIGN_COMPARE_USERS names ${names.join(', ')}, and there is no such tenant.`,
    )
  return allowed
}

function view(
  { calibration, duplicates, dropped }: UsersCalibration & { dropped: number },
  result: { model: string; file: string | null; threshold: { fmr: number; before: number; after: number } },
  change: CalibrationChange,
): Field[] {
  const { data, points, groups } = calibration
  const { fmr, before, after } = result.threshold
  return [
    ['Pack', result.model],
    ['Measured on', `${data.people} users, ${data.impostor_pairs} pairs, ${calibration.date}`],
    [
      'Likely duplicates',
      duplicates.cut === null
        ? 'unknown: too few pairs'
        : `${people(duplicates.people)} with several users, of which one was compared`,
    ],
    ...(dropped > 0
      ? [['Left out', `${people(dropped)} whose template was deleted with its pack`] satisfies Field]
      : []),
    ...points.map((point): Field => [`FMR ${point.fmr}`, describePoint(point)]),
    ...groups.map(
      (group): Field => [`Tenant ${group.group}`, `${group.people} users; its rates are in the file`],
    ),
    ['In use', `FMR ${fmr}: threshold ${before.toFixed(4)} before, ${after.toFixed(4)} by this calibration`],
    ['Not measured', 'FNMR, and the rate within any group of people: nobody labelled these users'],
    ...gradeFields(change),
    ['Written to', result.file ?? 'nowhere (--dry-run)'],
    ...(result.file ? [['To use it', 'restart the service'] satisfies Field] : []),
  ]
}

function describePoint({ threshold, basis, fmr_ci95: [, upper] }: Calibration['points'][number]): string {
  const bound = `threshold ${threshold.toFixed(4)} (at most ${upper.toExponential(1)} with 95 % confidence)`
  return basis === undefined ? bound : `${bound}, extrapolated`
}
