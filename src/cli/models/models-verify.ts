/** `countersign models verify`: checks that a pack's files are complete, and that all forms of its networks give the same scores. */
import type { Command } from 'commander'
import {
  loadModelPack,
  type ModelPack,
  ModelPackError,
  verifyModelPack,
} from '../../../models/pack/model-pack.js'
import { networkFiles } from '../../../models/pack/network-files.js'
import type { AgreementReport, GraphAgreement } from '../../../tools/evaluation/graph-agreement.js'
import { loadConfig } from '../../app/configuration.js'
import { type Config, modelPackDir } from '../../config/config.js'
import { declare } from '../lib/command.js'
import { CommandError, EXIT } from '../lib/output.js'
import { readInput } from '../lib/read-input.js'
import { type Cell, listing } from '../lib/style.js'

export function registerVerifyCommand(models: Command): void {
  declare(models, 'verify [pack]', {
    does: 'check every file of a pack against its SHA-256, and run its networks (default: the configured pack)',
    options: {
      '--agree': 'compare the scores of its 8-bit, float32 and accelerator graphs as well',
      '--photos <file...>': 'photos of faces for the comparison (default: the bundled ones)',
    },
    async answer({ pack: name, agree, photos }) {
      const config = loadConfig(name ? { ...process.env, COUNTERSIGN_MODEL_PACK: name } : process.env)
      const pack = await loadModelPack(modelPackDir(config)).catch(explainMissing)
      const problem = await problemOf(pack, config)
      const agreement = problem === null && agree ? await agreementOf(pack, config, photos) : undefined
      if (problem !== null || agreement?.graphs.some(({ agrees }) => agrees === false))
        process.exitCode = EXIT.failed
      const files = networkFiles(pack.manifest).map(({ file, sha256, licence, origin }) => ({
        file,
        sha256,
        licence,
        origin,
      }))
      return { model: pack.modelId, ok: problem === null, problem, files, agreement }
    },
    text: ({ model, problem, files, agreement }) =>
      [
        listing(
          ['FILE', 'SHA-256', 'LICENCE'],
          files.map(({ file, sha256, licence }) => [file, sha256, licence]),
        ),
        problem ? `\n${model} is broken: ${problem}` : `\n${model} is whole.`,
        ...(agreement ? ['', agreementText(agreement)] : []),
      ].join('\n'),
  })
}

async function problemOf(pack: ModelPack, config: Config): Promise<string | null> {
  try {
    await verifyModelPack(pack)
    await runNetworks(pack, config)
    return null
  } catch (error) {
    if (error instanceof ModelPackError) return error.message
    throw error
  }
}

/** Loads and runs every network in this process. @throws ModelPackError pack_computes_otherwise, network_unusable */
async function runNetworks(pack: ModelPack, config: Config): Promise<void> {
  const { FacePipeline } = await import('../../biometrics/pipeline/face-pipeline.js')
  const { engineOptions } = await import('../../app/engine-options.js')
  const { limits } = engineOptions(config)
  const pipeline = await FacePipeline.load(pack, { provider: 'cpu', limits }).catch((cause: Error) => {
    if (cause instanceof ModelPackError) throw cause
    const text = `the networks do not run as pack.json says: ${cause.message}`
    throw new ModelPackError('network_unusable', text, { cause })
  })
  await pipeline.release()
}

/** Imported late: the runtime of the networks takes longer to load than checking files needs. */
async function agreementOf(
  pack: ModelPack,
  config: Config,
  photos: string[] | undefined,
): Promise<AgreementReport> {
  const { measureAgreement } = await import('../../../tools/evaluation/graph-agreement.js')
  const { agreementPhotos } = await import('./sample-photos.js')
  const { engineOptions } = await import('../../app/engine-options.js')
  return measureAgreement({
    pack,
    accelerators: config.executionProviders.filter((provider) => provider !== 'cpu'),
    photos: photos ? await Promise.all(photos.map((file) => readInput(file))) : await agreementPhotos(),
    fmr: config.fmr,
    limits: {
      ...engineOptions(config).limits,
      // The content of the photos does not matter here, since only the graphs are compared.
      face: 'largest',
      secondFaceRatio: Number.MAX_VALUE,
      minFacePx: 1,
      acceptTurned: true,
    },
  })
}

function agreementText({ graphs, reference, photos, pairs, bound }: AgreementReport): string {
  if (graphs.length === 0)
    return 'The pack runs in only one form here, so there is nothing to compare: no network has an 8-bit form for this processor, and no accelerator is configured.'
  return [
    listing(
      ['GRAPHS', 'STATE', 'LARGEST DIFFERENCE OF A SCORE', 'PHOTOS APART'],
      graphs.map((graph) => [
        `${graph.provider}, ${graph.precision}`,
        stateOf(graph),
        graph.max_score_difference?.toFixed(6) ?? '-',
        String(graph.photos_apart),
      ]),
    ),
    `\nCompared with ${reference.provider}, ${reference.precision}, on ${photos} photos and ${pairs} pairs: a score may differ by ${bound.toFixed(6)}.`,
    ...graphs.flatMap(({ provider, unavailable }) =>
      unavailable ? [`${provider} does not run here: ${unavailable}`] : [],
    ),
  ].join('\n')
}

function stateOf({ unavailable, agrees }: GraphAgreement): Cell {
  if (unavailable) return 'not here'
  return agrees ? { text: 'agree', style: 'green' } : { text: 'differ', style: 'red' }
}

function explainMissing(error: unknown): never {
  if (error instanceof ModelPackError && error.code === 'pack_not_found')
    throw new CommandError(error.code, `${error.message}. Build a pack with: countersign models build`)
  throw error
}
