/** `countersign evaluate`: error rates of the configured pack on the operator's own labelled pairs. */
import { readFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { thresholdForFmr } from '../../models/pack/model-pack.js'
import { Engine } from '../biometrics/engine/engine.js'
import { scoreOf } from '../biometrics/pipeline/match.js'
import { BiometricError } from '../biometrics/types.js'
import { loadConfig } from '../config.js'
import { errorRates, type ScoredPair } from '../evaluation/error-rates.js'
import { engineOptions } from '../service.js'
import { action, CommandError, note, type OutputOptions, print } from './output.js'
import { prepareModels } from './prepare-models.js'
import { progressBar, progressSteps } from './progress.js'
import { readInput } from './read-input.js'
import { type Field, fields } from './style.js'

const FMRS = [0.01, 0.001, 0.0001]

interface LabelledPair {
  a: string
  b: string
  genuine: boolean
}

export function registerEvaluateCommand(program: Command): void {
  program
    .command('evaluate <pairs.csv>')
    .description('measure error rates on labelled pairs; columns a,b,same with paths relative to the file')
    .option(
      '--largest-face',
      'take the largest face of each photo, whatever else is in it or how small it is',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (file: string, options: OutputOptions & { largestFace?: boolean }) => {
        const config = loadConfig()
        const pairs = parsePairs((await readInput(file)).toString())
        const preparing = progressSteps('Preparing the model pack')
        const prepared = await prepareModels(config, preparing.update).finally(() => preparing.stop())
        if (prepared.config !== config && !options.json) note(prepared.warning!)
        const settings = engineOptions(prepared.config)
        const engine = await Engine.start({
          ...settings,
          queueLimit: Number.MAX_SAFE_INTEGER,
          limits: options.largestFace
            ? { ...settings.limits, secondFaceRatio: Number.MAX_VALUE, minFacePx: 1 }
            : settings.limits,
        })
        try {
          const photos = [...new Set(pairs.flatMap(({ a, b }) => [a, b]))]
          const { embeddings, refusals } = await embedAll(engine, dirname(resolve(file)), photos)
          const scored = pairs.map(({ a, b, genuine }): ScoredPair => {
            const [first, second] = [embeddings.get(a), embeddings.get(b)]
            return { genuine, score: first && second ? scoreOf(engine.pack, first, second) : null }
          })
          const rates = errorRates(scored, FMRS)
          const { threshold } = thresholdForFmr(engine.pack, config.fmr)
          const share = (genuine: boolean) => {
            const of = scored.filter((pair) => pair.genuine === genuine)
            return of.filter(({ score }) => score !== null && score >= threshold).length / of.length
          }
          const configured = {
            fmr: config.fmr,
            threshold,
            measured_fmr: share(false),
            measured_fnmr: 1 - share(true),
          }
          const view = {
            model: engine.pack.modelId,
            photos: photos.length,
            refused: Object.fromEntries(refusals),
            genuine_pairs: rates.genuine,
            impostor_pairs: rates.impostor,
            points: rates.points,
            eer: rates.eer,
            balanced_accuracy: rates.balancedAccuracy,
            configured,
          }
          const percent = (rate: number) => `${(100 * rate).toFixed(2)} %`
          print(options, view, () =>
            fields([
              ['Model', view.model],
              ['Photos', `${photos.length}, of which ${refusals.size} could not be used`],
              ['Pairs', `${rates.genuine} genuine, ${rates.impostor} impostor`],
              ...rates.points.map(
                ({ fmr, fnmr, threshold: at }): Field => [
                  `FNMR at FMR ${fmr}`,
                  `${percent(fnmr)} (score over ${at.toFixed(4)})`,
                ],
              ),
              ['EER', percent(rates.eer)],
              ['Balanced accuracy', rates.balancedAccuracy.toFixed(4)],
              [
                'As configured',
                `threshold ${threshold.toFixed(4)} for FMR ${config.fmr}: FMR ${percent(configured.measured_fmr)}, FNMR ${percent(configured.measured_fnmr)}`,
              ],
            ]),
          )
        } finally {
          await engine.close()
        }
      }),
    )
}

async function embedAll(engine: Engine, folder: string, photos: string[]) {
  const embeddings = new Map<string, Float32Array>()
  const refusals = new Map<string, string>()
  const anyone = new Float32Array(engine.pack.manifest.embedder.dimensions).fill(1)
  const progress = progressBar('Evaluating')
  let done = 0
  const embedOne = async (photo: string) => {
    try {
      const { sample } = await engine.verify([await readFile(resolve(folder, photo))], anyone)
      embeddings.set(photo, sample.embedding)
    } catch (error) {
      if (!(error instanceof BiometricError)) throw error
      refusals.set(photo, error.code)
    }
    progress.update(++done, photos.length, photo)
  }
  await Promise.all(photos.map(embedOne)).finally(() => progress.stop())
  return { embeddings, refusals }
}

/** Columns by name; `same` (or `genuine`) is 1 or true for two photos of one person. */
function parsePairs(text: string): LabelledPair[] {
  const [header = '', ...lines] = text.trim().split(/\r?\n/)
  const columns = header.split(',').map((name) => name.trim().toLowerCase())
  const find = (...names: string[]) => columns.findIndex((name) => names.includes(name))
  const [a, b, same] = [find('a', 'file_x'), find('b', 'file_y'), find('same', 'genuine')]
  if (a < 0 || b < 0 || same < 0)
    throw new CommandError('malformed_pairs', 'The first line must name the columns a, b and same.')
  return lines.map((line) => {
    const cells = line.split(',').map((cell) => cell.trim())
    return { a: cells[a]!, b: cells[b]!, genuine: /^(1|true)$/i.test(cells[same] ?? '') }
  })
}
