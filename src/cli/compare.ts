/** `countersign compare`: the engine without the server, under the same configuration and policy. */
import type { Command } from 'commander'
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import { measuredView, scoreView } from '../api/views.js'
import { loadConfig } from '../app/configuration.js'
import { engineOptions } from '../app/engine-options.js'
import { Engine } from '../biometrics/engine/engine.js'
import { BiometricError, type FaceSample } from '../biometrics/types.js'
import { action, CommandError, EXIT, type OutputOptions, print, UsageError } from './lib/output.js'
import { progressSteps } from './lib/progress.js'
import { readInput } from './lib/read-input.js'
import { type Cell, type Field, fields } from './lib/style.js'
import { prepareModels } from './models/prepare-models.js'

export function registerCompareCommand(command: Command): void {
  command
    .option('--fmr <rate>', 'false match rate of the threshold to use (default: COUNTERSIGN_FMR)')
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 the same person, 3 not the same person, 1 a photo or the configuration cannot be used, 2 wrong usage.',
    )
    .action(
      action(async (a: string, b: string, options: OutputOptions & { fmr?: string }) => {
        const config = loadConfig()
        const asked = options.fmr ? Number(options.fmr) : config.fmr
        if (!(asked > 0 && asked < 1))
          throw new UsageError('invalid_option', `--fmr is "${options.fmr}"; expected a rate such as 1e-4.`)
        const images = await Promise.all([a, b].map(readInput))
        const progress = progressSteps('Preparing the model pack')
        await prepareModels(config, progress.update).finally(() => progress.stop())
        const engine = await Engine.start({ ...engineOptions(config), workers: 1 })
        try {
          const { score, samples, timingsMs } = await engine
            .compare(images[0]!, images[1]!)
            .catch((error) => {
              throw naming(error, [a, b])
            })
          const { threshold, fmr, basis } = thresholdForFmr(engine.pack, asked)
          const view = {
            same: score >= threshold,
            score: scoreView(score),
            threshold: scoreView(threshold),
            fmr,
            fmr_basis: basis,
            model: engine.pack.modelId,
            faces: samples.map(faceView),
            timings_ms: Object.fromEntries(
              Object.entries(timingsMs).map(([stage, ms]) => [stage, Math.round(ms * 100) / 100]),
            ),
          }
          if (!view.same) process.exitCode = EXIT.different
          print(options, view, () =>
            fields([
              ['Verdict', verdictOf(view.same)],
              [
                'Score',
                `${view.score} (threshold ${view.threshold} for a ${basis} false match rate of ${fmr})`,
              ],
              ['Model', view.model],
              ...view.faces.map(
                (face, index): Field => [
                  `Face in ${[a, b][index]}`,
                  `${face.box.width} x ${face.box.height} px at (${face.box.x}, ${face.box.y}), quality ${face.quality.score}`,
                ],
              ),
              [
                'Timings',
                Object.entries(view.timings_ms)
                  .map(([stage, ms]) => `${stage} ${ms} ms`)
                  .join(', '),
              ],
            ]),
          )
        } finally {
          await engine.close()
        }
      }),
    )
}

function verdictOf(same: boolean): Cell {
  return same ? { text: 'same person', style: 'green' } : { text: 'not the same person', style: 'red' }
}

/** Names the file that the engine refused. */
function naming(error: unknown, files: string[]): unknown {
  if (!(error instanceof BiometricError) || error.imageIndex === undefined) return error
  return new CommandError(error.code, `${files[error.imageIndex]}: ${error.message}`)
}

function faceView({ box, landmarks, quality, liveness }: FaceSample) {
  const px = (value: number) => Math.round(value * 10) / 10
  return {
    box: { x: px(box.x), y: px(box.y), width: px(box.width), height: px(box.height) },
    landmarks: landmarks?.map(([x, y]) => [px(x), px(y)]) ?? null,
    quality: measuredView(quality),
    liveness,
  }
}
