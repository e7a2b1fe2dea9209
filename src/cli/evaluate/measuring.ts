/** The parts that `evaluate` and `models calibrate` share: options that decide the figures, and the measuring. */
import type { EvaluationRun } from '../../../tools/evaluation/run-evaluation.js'
import type { EngineOptions, ImageLimits } from '../../biometrics/types.js'
import type { Config } from '../../config/config.js'
import type { Asked } from '../lib/command.js'
import { progressBar, progressSteps } from '../lib/progress.js'
import { readInput } from '../lib/read-input.js'

/** Options that decide the figures. */
export const MEASURING = {
  '--groups <people.csv>': 'CSV that assigns people to groups: columns person and any labels, such as sex',
  '--impostors <photos>': {
    does: 'compare one photo of each person with one of every other person, or all photos',
    choices: ['one', 'all'],
    default: 'one',
  },
  '--face <which>': {
    does: 'use the largest face of each photo, or the one nearest its center, regardless of its size and of other faces',
    choices: ['largest', 'centre'],
  },
  '--largest-face': { does: 'the same as --face largest', conflicts: 'face' },
} as const
type MeasuringOptions = Asked<'', typeof MEASURING>

/** Imported late: loading engine and configuration takes longer than a short command should. */
export async function measure(
  path: string,
  pack: string | undefined,
  options: MeasuringOptions,
): Promise<EvaluationRun> {
  const { isFolder } = await import('../../../tools/evaluation/data-set.js')
  const { runEvaluation } = await import('../../../tools/evaluation/run-evaluation.js')
  const { join } = await import('node:path')
  if (!(await isFolder(path))) await readInput(path)
  if (options.groups) await readInput(options.groups)
  const { config, settings } = await prepareEngine(pack)
  const progress = progressBar('Evaluating')
  try {
    return await runEvaluation({
      path,
      groupsFile: options.groups ?? null,
      engine: {
        ...settings,
        limits: limitsFor(options, settings.limits),
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

/** The configuration, and an engine like the service's whose queue takes as many calls at once as there are pictures. */
export async function prepareEngine(
  pack: string | undefined,
): Promise<{ config: Config; settings: EngineOptions }> {
  const { loadConfig } = await import('../../app/configuration.js')
  const { engineOptions } = await import('../../app/engine-options.js')
  const { prepareModels } = await import('../models/prepare-models.js')
  const config = loadConfig(pack ? { ...process.env, COUNTERSIGN_MODEL_PACK: pack } : process.env)
  const preparing = progressSteps('Preparing the model pack')
  await prepareModels(config, preparing.update).finally(() => preparing.stop())
  return { config, settings: { ...engineOptions(config), queueLimit: Number.MAX_SAFE_INTEGER } }
}

/** The image rules of the service, unless the operator says which face of a photo is the person's. */
function limitsFor(options: MeasuringOptions, limits: ImageLimits): ImageLimits {
  const face = options.face ?? (options.largestFace ? 'largest' : undefined)
  return face ? { ...limits, face, secondFaceRatio: Number.MAX_VALUE, minFacePx: 1 } : limits
}
