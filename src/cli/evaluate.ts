/** `countersign evaluate`: error rates of a pack on the operator's own photos, as a report, and as a calibration. */
import { type Command, Option } from 'commander'
import type { EvaluationRun } from '../evaluation/run-evaluation.js'
import { action, note, type OutputOptions, print } from './output.js'
import { progressBar, progressSteps } from './progress.js'
import { readInput } from './read-input.js'

export interface EvaluateOptions extends OutputOptions {
  pack?: string
  groups?: string
  impostors: 'one' | 'all'
  largestFace?: boolean
  report?: string[]
  includePhotos?: boolean
  calibrate?: string
}

export function registerEvaluateCommand(command: Command): void {
  withMeasuringOptions(
    command.option('--pack <pack>', 'name or folder of the pack to measure (default: the configured one)'),
  )
    .option('--report <file...>', 'write a report, by its ending: .html, .md or .json')
    .option('--include-photos', 'show the worst pairs in the report, with their photos and names')
    .option('--calibrate <file>', 'write the thresholds that these photos show, for: models calibrate')
    .option('--json', 'print JSON')
    .action(
      action(async (path: string, options: EvaluateOptions) => {
        const { assertReportFormat, writeReport } = await import('../evaluation/report.js')
        const { calibrate } = await import('../evaluation/calibrate.js')
        const { writeCalibration } = await import('./models-calibrate.js')
        const { evaluationText, evaluationView } = await import('./evaluation-view.js')
        // Told before the photos are measured, not after.
        for (const file of options.report ?? []) assertReportFormat(file)
        const run = await measure(path, options.pack, options)
        for (const file of options.report ?? []) await writeReport(file, run, options.includePhotos ?? false)
        if (options.calibrate)
          await writeCalibration(options.calibrate, calibrate(run, run.groups, run.data.name))
        print(options, evaluationView(run.evaluation), () => evaluationText(run.evaluation))
      }),
    )
}

/** What decides the figures. */
export function withMeasuringOptions(command: Command): Command {
  return command
    .option('--groups <people.csv>', 'tell groups apart: columns person and any labels, such as sex')
    .addOption(
      new Option('--impostors <photos>', 'compare one photo of everybody with one of everybody else, or all')
        .choices(['one', 'all'])
        .default('one'),
    )
    .option(
      '--largest-face',
      'take the largest face of each photo, whatever else is in it or how small it is',
    )
}

/** Loaded late: engine and configuration cost more than a short command has time for. */
export async function measure(
  path: string,
  pack: string | undefined,
  options: Pick<EvaluateOptions, 'groups' | 'impostors' | 'largestFace' | 'json'>,
): Promise<EvaluationRun> {
  const { loadConfig } = await import('../config.js')
  const { engineOptions } = await import('../engine-setup.js')
  const { prepareModels } = await import('./prepare-models.js')
  const { isFolder } = await import('../evaluation/data-set.js')
  const { runEvaluation } = await import('../evaluation/run-evaluation.js')
  const { join } = await import('node:path')
  const config = loadConfig(pack ? { ...process.env, COUNTERSIGN_MODEL_PACK: pack } : process.env)
  if (!(await isFolder(path))) await readInput(path)
  if (options.groups) await readInput(options.groups)
  const preparing = progressSteps('Preparing the model pack')
  const prepared = await prepareModels(config, preparing.update).finally(() => preparing.stop())
  if (prepared.config !== config && !options.json) note(prepared.warning!)
  const settings = engineOptions(prepared.config)
  const progress = progressBar('Evaluating')
  try {
    return await runEvaluation({
      path,
      groupsFile: options.groups ?? null,
      engine: {
        ...settings,
        queueLimit: Number.MAX_SAFE_INTEGER,
        limits: options.largestFace
          ? { ...settings.limits, secondFaceRatio: Number.MAX_VALUE, minFacePx: 1 }
          : settings.limits,
      },
      fmr: config.fmr,
      protocol: options.impostors,
      cacheFolder: join(config.dataDir, 'evaluations'),
      onProgress: progress.update,
    })
  } finally {
    progress.stop()
  }
}
