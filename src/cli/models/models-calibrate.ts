/** `countersign models calibrate`: applies measured thresholds to a pack. */
import { randomUUID } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { CALIBRATION_JSON, type Calibration } from '../../../models/pack/calibration.js'
import { type MeasuringOptions, measure, withMeasuringOptions } from '../evaluate/measuring.js'
import { action, print } from '../lib/output.js'
import { type Field, fields } from '../lib/style.js'

export function registerCalibrateCommand(models: Command): void {
  withMeasuringOptions(
    models
      .command('calibrate <pack> <data>')
      .description(
        'set the thresholds of a pack: measured on a folder of people or a CSV of pairs, or from a calibration.json that evaluate wrote',
      ),
  )
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, source: string, options: MeasuringOptions) => {
        const { loadConfig, modelPackDir } = await import('../../config/config.js')
        const { assertMeasuredWith, parseCalibration } = await import('../../../models/pack/calibration.js')
        const { loadPackManifest } = await import('../../../models/pack/model-pack.js')
        const { readInput } = await import('../lib/read-input.js')
        const dir = modelPackDir(loadConfig({ ...process.env, COUNTERSIGN_MODEL_PACK: name }))
        let calibration: Calibration
        if (source.endsWith('.json'))
          calibration = parseCalibration((await readInput(source)).toString(), source)
        else {
          const { calibrate } = await import('../../evaluation/calibrate.js')
          const run = await measure(source, name, options)
          calibration = calibrate(run, run.groups, run.data.name)
        }
        const manifest = await loadPackManifest(dir)
        assertMeasuredWith(calibration, manifest, source)
        const file = join(dir, CALIBRATION_JSON)
        await writeCalibration(file, calibration)
        print(options, { model: `${manifest.id}@${manifest.version}`, file, ...calibration }, () =>
          fields([
            ['Pack', `${manifest.id}@${manifest.version}`],
            ['Measured on', `${calibration.data.people} people, ${calibration.date}`],
            ...calibration.points.map(
              ({ fmr, threshold, fmr_ci95: [, upper] }): Field => [
                `FMR ${fmr}`,
                `threshold ${threshold.toFixed(4)} (at most ${upper.toExponential(1)} with 95 % confidence)`,
              ],
            ),
            ['Written to', file],
            ['To use it', 'restart the service'],
          ]),
        )
      }),
    )
}

/** Replaces the file in one step: a reader finds the old thresholds or the new ones. */
export async function writeCalibration(file: string, calibration: Calibration): Promise<void> {
  const { moveIntoPlace } = await import('../../lib/durable-file.js')
  const partial = `${file}.${randomUUID()}.tmp`
  try {
    await writeFile(partial, `${JSON.stringify(calibration, null, 2)}\n`, { flag: 'wx' })
    moveIntoPlace(partial, file)
  } finally {
    await rm(partial, { force: true })
  }
}
