/** `countersign models calibrate`: applies measured thresholds to a pack. */
import type { Command } from 'commander'
import type { Calibration } from '../../../models/pack/calibration.js'
import { type MeasuringOptions, measure, withMeasuringOptions } from '../evaluate/measuring.js'
import { action, print, UsageError } from '../lib/output.js'
import { type Field, fields } from '../lib/style.js'

interface UsersOptions {
  fromUsers?: boolean
  people: string
  perSecond: string
  dryRun?: boolean
}

/** 2,000 users make two million pairs, which show a rate of 1e-5 with thirty errors. */
const PEOPLE = 2000
/** 5,000 users make 12 million pairs, whose comparison takes about a minute with its intervals. */
const MAX_PEOPLE = 5000
/** A reference is read and opened in about 0.2 ms, so that this takes a few percent of one core. */
const PER_SECOND = 200
const MAX_PER_SECOND = 100_000

export function registerCalibrateCommand(models: Command): void {
  withMeasuringOptions(
    models
      .command('calibrate <pack> [data]')
      .description(
        'set the thresholds of a pack: measured on a folder of people or a CSV of pairs, from a calibration.json that evaluate wrote, or between your own users',
      ),
  )
    .option(
      '--from-users',
      'measure between enrolled users of the tenants that COUNTERSIGN_COMPARE_USERS names',
    )
    .option('--people <n>', 'with --from-users: how many users are drawn', String(PEOPLE))
    .option(
      '--per-second <n>',
      'with --from-users: how many references are opened in a second',
      String(PER_SECOND),
    )
    .option('--dry-run', 'with --from-users: write nothing')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, source: string | undefined, options: MeasuringOptions & UsersOptions) => {
        if ((source === undefined) !== (options.fromUsers === true))
          throw new UsageError('invalid_option', 'Name either data or --from-users.')
        if (source === undefined) {
          const { calibrateFromUsers } = await import('./calibrate-from-users.js')
          return calibrateFromUsers(name, {
            json: options.json === true,
            dryRun: options.dryRun === true,
            people: wholeNumber(options.people, '--people', MAX_PEOPLE),
            perSecond: wholeNumber(options.perSecond, '--per-second', MAX_PER_SECOND),
          })
        }
        const { loadConfig } = await import('../../app/configuration.js')
        const { modelPackDir } = await import('../../config/config.js')
        const { assertMeasuredWith, parseCalibration } = await import('../../../models/pack/calibration.js')
        const { loadPackManifest } = await import('../../../models/pack/model-pack.js')
        const { readInput } = await import('../lib/read-input.js')
        const { applyCalibration, changeOf, gradeChange, gradeFields } = await import(
          './write-calibration.js'
        )
        const config = loadConfig({ ...process.env, COUNTERSIGN_MODEL_PACK: name })
        const dir = modelPackDir(config)
        let measured: Calibration
        if (source.endsWith('.json'))
          measured = parseCalibration((await readInput(source)).toString(), source)
        else {
          const { calibrationOf } = await import('../../../tools/evaluation/measure-upright.js')
          const run = await measure(source, name, options)
          measured = await calibrationOf(run)
        }
        const manifest = await loadPackManifest(dir)
        assertMeasuredWith(measured, manifest, source)
        const change = await changeOf(dir, measured, config.fmr)
        const { calibration } = change
        const file = await applyCalibration(dir, change)
        const model = `${manifest.id}@${manifest.version}`
        print(options, { model, file, grade: gradeChange(change), ...calibration }, () =>
          fields([
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
        )
      }),
    )
}

/** @throws UsageError invalid_option */
function wholeNumber(text: string, option: string, most: number): number {
  if (/^\d{1,9}$/.test(text) && Number(text) >= 1 && Number(text) <= most) return Number(text)
  throw new UsageError('invalid_option', `${option} is "${text}"; expected a whole number from 1 to ${most}.`)
}
