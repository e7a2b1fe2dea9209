/** `countersign models calibrate`: applies measured thresholds to a pack. */
import type { Command } from 'commander'
import { MEASURING, measure } from '../evaluate/measuring.js'
import { declare, TOLD, type Told, wholeNumberTo } from '../lib/command.js'
import { UsageError } from '../lib/output.js'
import { type Field, fields } from '../lib/style.js'

/** 2,000 users make two million pairs, which show a rate of 1e-5 with thirty errors. */
const PEOPLE = 2000
/** 5,000 users make 12 million pairs, whose comparison takes about a minute with its intervals. */
const MAX_PEOPLE = 5000
/** A reference is read and opened in about 0.2 ms, so that this takes a few percent of one core. */
const PER_SECOND = 200
const MAX_PER_SECOND = 100_000

export function registerCalibrateCommand(models: Command): void {
  declare(models, 'calibrate <pack> [data]', {
    does: 'set the thresholds of a pack: measured on a folder of people or a CSV of pairs, from a calibration.json that evaluate wrote, or between your own users',
    options: {
      ...MEASURING,
      '--from-users': 'measure between enrolled users of the tenants that COUNTERSIGN_COMPARE_USERS names',
      '--people <n>': {
        does: 'with --from-users: how many users are drawn',
        default: String(PEOPLE),
        parse: wholeNumberTo(MAX_PEOPLE),
      },
      '--per-second <n>': {
        does: 'with --from-users: how many references are opened in a second',
        default: String(PER_SECOND),
        parse: wholeNumberTo(MAX_PER_SECOND),
      },
      '--dry-run': 'with --from-users: write nothing',
    },
    async answer({ pack, data, fromUsers, ...options }): Promise<Told> {
      if ((data === undefined) !== fromUsers)
        throw new UsageError('invalid_option', 'Name either data or --from-users.')
      if (data === undefined)
        return (await import('./calibrate-from-users.js')).calibrateFromUsers(pack, options)
      const { loadConfig } = await import('../../app/configuration.js')
      const { modelPackDir } = await import('../../config/config.js')
      const { assertMeasuredWith, parseCalibration } = await import('../../../models/pack/calibration.js')
      const { loadPackManifest } = await import('../../../models/pack/model-pack.js')
      const { readInput } = await import('../lib/read-input.js')
      const { calibrationOf } = await import('../../../tools/evaluation/measure-upright.js')
      const { applyCalibration, changeOf, gradeChange, gradeFields } = await import('./write-calibration.js')
      const config = loadConfig({ ...process.env, COUNTERSIGN_MODEL_PACK: pack })
      const dir = modelPackDir(config)
      const measured = data.endsWith('.json')
        ? parseCalibration((await readInput(data)).toString(), data)
        : await calibrationOf(await measure(data, pack, options))
      const manifest = await loadPackManifest(dir)
      assertMeasuredWith(measured, manifest, data)
      const change = await changeOf(dir, measured, config.fmr)
      const { calibration } = change
      const file = await applyCalibration(dir, change)
      const model = `${manifest.id}@${manifest.version}`
      return {
        view: { model, file, grade: gradeChange(change), ...calibration },
        text: fields([
          ['Pack', model],
          ['Measured on', `${calibration.data.people} people, ${calibration.date}`],
          ...calibration.points.map(
            ({ fmr, threshold, fmr_ci95: [, upper] }): Field => [
              `FMR ${fmr}`,
              `threshold ${threshold.toFixed(4)} (at most ${upper.toExponential(1)} with 95 % confidence)`,
            ],
          ),
          ...gradeFields(change),
          ['Written to', file],
          ['To use it', 'restart the service'],
        ]),
      }
    },
    ...TOLD,
  })
}
