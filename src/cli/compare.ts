/** `countersign compare`: the engine without the server, under the same configuration and policy. */
import type { Command } from 'commander'
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import { measuredView, scoreView } from '../api/views.js'
import { loadConfig } from '../app/configuration.js'
import { engineOptions } from '../app/engine-options.js'
import { Engine } from '../biometrics/engine/engine.js'
import { BiometricError, type FaceSample } from '../biometrics/types.js'
import { declare, expected } from './lib/command.js'
import { CommandError, EXIT } from './lib/output.js'
import { progressSteps } from './lib/progress.js'
import { readInput } from './lib/read-input.js'
import { type Cell, type Field, fields } from './lib/style.js'
import { prepareModels } from './models/prepare-models.js'

export function registerCompareCommand(command: Command): void {
  declare(command, '<a> <b>', {
    options: {
      '--fmr <rate>': {
        does: 'false match rate of the threshold to use (default: COUNTERSIGN_FMR)',
        parse: parseRate,
      },
    },
    help: '\nExit codes: 0 the same person, 3 not the same person, 1 a photo or the configuration cannot be used, 2 wrong usage.',
    async answer({ a, b, fmr: asked }) {
      const config = loadConfig()
      const images = await Promise.all([a, b].map(readInput))
      const progress = progressSteps('Preparing the model pack')
      await prepareModels(config, progress.update).finally(() => progress.stop())
      const engine = await Engine.start({ ...engineOptions(config), workers: 1 })
      try {
        const { score, samples, timingsMs } = await engine.compare(images[0]!, images[1]!).catch((error) => {
          throw naming(error, [a, b])
        })
        const { threshold, fmr, basis } = thresholdForFmr(engine.pack, asked ?? config.fmr)
        const same = score >= threshold
        if (!same) process.exitCode = EXIT.different
        return {
          same,
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
      } finally {
        await engine.close()
      }
    },
    text: ({ same, score, threshold, fmr, fmr_basis, model, faces, timings_ms }, { a, b }) =>
      fields([
        ['Verdict', verdictOf(same)],
        ['Score', `${score} (threshold ${threshold} for a ${fmr_basis} false match rate of ${fmr})`],
        ['Model', model],
        ...faces.map(
          ({ box, quality }, index): Field => [
            `Face in ${[a, b][index]}`,
            `${box.width} x ${box.height} px at (${box.x}, ${box.y}), quality ${quality.score}`,
          ],
        ),
        [
          'Timings',
          Object.entries(timings_ms)
            .map(([stage, ms]) => `${stage} ${ms} ms`)
            .join(', '),
        ],
      ]),
  })
}

function parseRate(text: string, option: string): number {
  const rate = Number(text)
  return expected(text, option, rate > 0 && rate < 1 ? rate : undefined, 'a rate such as 1e-4')
}

function verdictOf(same: boolean): Cell {
  return same ? { text: 'same person', style: 'green' } : { text: 'not the same person', style: 'red' }
}

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
