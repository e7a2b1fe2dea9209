/** `countersign evaluate`: error rates of a pack on the operator's own photos, as a report, and as a calibration. */
import type { Command } from 'commander'
import { action, print } from '../lib/output.js'
import { type MeasuringOptions, measure, withMeasuringOptions } from './measuring.js'

interface EvaluateOptions extends MeasuringOptions {
  pack?: string
  report?: string[]
  includePhotos?: boolean
  calibrate?: string
}

export function registerEvaluateCommand(command: Command): void {
  withMeasuringOptions(
    command.option('--pack <pack>', 'name or folder of the pack to measure (default: the configured one)'),
  )
    .option('--report <file...>', 'write a report; the format follows from the ending: .html, .md or .json')
    .option('--include-photos', 'show the worst pairs in the report, with their photos and names')
    .option('--calibrate <file>', 'write the measured thresholds to a file for `models calibrate`')
    .option('--json', 'print JSON')
    .action(
      action(async (path: string, options: EvaluateOptions) => {
        const { assertReportFormat, writeReport } = await import('../../../tools/evaluation/report.js')
        const { calibrationOf } = await import('../../../tools/evaluation/measure-upright.js')
        const { changeOf, writeCalibration } = await import('../models/write-calibration.js')
        const { evaluationText, evaluationView } = await import('./evaluation-view.js')
        // Report wrong options before the photos are measured.
        for (const file of options.report ?? []) assertReportFormat(file)
        const run = await measure(path, options.pack, options)
        for (const file of options.report ?? []) await writeReport(file, run, options.includePhotos ?? false)
        if (options.calibrate) {
          const { packDir } = run.engine
          // The file may be copied to other nodes by hand.
          const { calibration } = await changeOf(
            packDir,
            await calibrationOf(run),
            run.evaluation.configured.fmr,
          )
          await writeCalibration(options.calibrate, calibration)
        }
        print(options, evaluationView(run.evaluation), () => evaluationText(run.evaluation))
      }),
    )
}
