/** `countersign evaluate`: error rates of a pack on the operator's own photos, as a report, and as a calibration. */
import type { Command } from 'commander'
import { declare, TOLD } from '../lib/command.js'
import { MEASURING, measure } from './measuring.js'

export function registerEvaluateCommand(command: Command): void {
  declare(command, '<data>', {
    options: {
      '--pack <pack>': 'name or folder of the pack to measure (default: the configured one)',
      ...MEASURING,
      '--report <file...>': 'write a report; the format follows from the ending: .html, .md or .json',
      '--include-photos': 'show the worst pairs in the report, with their photos and names',
      '--calibrate <file>': 'write the measured thresholds to a file for `models calibrate`',
    },
    async answer({ data, pack, report = [], includePhotos, calibrate, ...measuring }) {
      const { assertReportFormat, writeReport } = await import('../../../tools/evaluation/report.js')
      const { calibrationOf } = await import('../../../tools/evaluation/measure-upright.js')
      const { changeOf, writeCalibration } = await import('../models/write-calibration.js')
      const { evaluationText, evaluationView } = await import('./evaluation-view.js')
      // Report wrong options before the photos are measured.
      for (const file of report) assertReportFormat(file)
      const run = await measure(data, pack, measuring)
      const { evaluation } = run
      for (const file of report) await writeReport(file, run, includePhotos)
      if (calibrate) {
        // The file may be copied to other nodes by hand.
        const { calibration } = await changeOf(
          run.engine.packDir,
          await calibrationOf(run),
          evaluation.configured.fmr,
        )
        await writeCalibration(calibrate, calibration)
      }
      return { view: evaluationView(evaluation), text: evaluationText(evaluation) }
    },
    ...TOLD,
  })
}
