/** `countersign models …`: which packs are there, whether they are whole, and building the baseline pack. */
import { join } from 'node:path'
import type { Command } from 'commander'
import { buildBaseline } from '../../models/baseline/build-baseline.js'
import { CATALOGUE } from '../../models/install/catalogue.js'
import { installedPacks } from '../../models/pack/installed-packs.js'
import { loadModelPack, ModelPackError, networkFiles, verifyModelPack } from '../../models/pack/model-pack.js'
import { loadConfig, modelPackDir } from '../config.js'
import { registerCalibrateCommand } from './models-calibrate.js'
import { registerImportCommand } from './models-import.js'
import { registerPullCommand } from './models-pull.js'
import { action, CommandError, EXIT, type OutputOptions, print } from './output.js'
import { progressSteps } from './progress.js'
import { type Cell, listing } from './style.js'

export function registerModelsCommands(models: Command): void {
  registerImportCommand(models)
  registerPullCommand(models)
  registerCalibrateCommand(models)

  models
    .command('list')
    .description('list installed packs and the ones known by name')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        const config = loadConfig()
        const active = modelPackDir(config)
        const installed = await installedPacks(
          config.modelsDir,
          config.modelPack === 'baseline' ? null : active,
        )
        const names = new Set(installed.map(({ id }) => id))
        const views = [
          ...installed.map((pack) => ({ ...pack, installed: true, active: pack.dir === active })),
          ...CATALOGUE.filter(({ id }) => !names.has(id)).map(({ id, title }) => ({
            id,
            model: null,
            description: title,
            dir: null,
            problem: null,
            installed: false,
            active: false,
          })),
        ]
        print(options, views, () =>
          listing(
            ['PACK', 'STATE', 'MODEL', 'DESCRIPTION'],
            views.map((view) => [
              view.id,
              stateOf(view),
              view.model ?? '-',
              view.problem ?? view.description,
            ]),
          ),
        )
      }),
    )

  models
    .command('verify [pack]')
    .description('check every file of a pack against its SHA-256 (default: the configured pack)')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string | undefined, options: OutputOptions) => {
        const config = loadConfig(name ? { ...process.env, COUNTERSIGN_MODEL_PACK: name } : process.env)
        const pack = await loadModelPack(modelPackDir(config)).catch(explainMissing)
        let problem: string | null = null
        try {
          await verifyModelPack(pack)
        } catch (error) {
          if (!(error instanceof ModelPackError)) throw error
          problem = error.message
          process.exitCode = EXIT.failed
        }
        const files = networkFiles(pack.manifest).map(({ file, sha256, licence, origin }) => ({
          file,
          sha256,
          licence,
          origin,
        }))
        print(options, { model: pack.modelId, ok: problem === null, problem, files }, () =>
          [
            listing(
              ['FILE', 'SHA-256', 'LICENCE'],
              files.map(({ file, sha256, licence }) => [file, sha256, licence]),
            ),
            problem ? `\n${pack.modelId} is broken: ${problem}` : `\n${pack.modelId} is whole.`,
          ].join('\n'),
        )
      }),
    )

  models
    .command('build-baseline')
    .description("write the baseline pack from the weights inside @vladmandic/face-api's npm package")
    .option('--out <folder>', 'where to (default: <models folder>/baseline)')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions & { out?: string }) => {
        const outDir = options.out ?? join(loadConfig().modelsDir, 'baseline')
        const progress = progressSteps('Building the baseline model pack')
        const { files } = await buildBaseline({ outDir, onProgress: progress.update }).finally(() =>
          progress.stop(),
        )
        print(options, { dir: outDir, files }, () =>
          listing(
            ['FILE', 'BYTES', 'SHA-256'],
            files.map(({ file, bytes, sha256 }) => [file, String(bytes), sha256]),
          ),
        )
      }),
    )
}

function stateOf(view: { problem: string | null; active: boolean; installed: boolean }): Cell {
  if (view.problem) return { text: 'broken', style: 'red' }
  if (view.active) return { text: 'active', style: 'green' }
  return view.installed ? 'installed' : 'not installed'
}

function explainMissing(error: unknown): never {
  if (error instanceof ModelPackError && error.code === 'pack_not_found')
    throw new CommandError(
      error.code,
      `${error.message}. Build the baseline pack with: countersign models build-baseline`,
    )
  throw error
}
