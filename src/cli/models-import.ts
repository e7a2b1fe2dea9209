/** `countersign models import`: puts a pack that somebody brought into the models folder, once it has proved itself. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Command } from 'commander'
import { findCataloguePack } from '../../models/install/catalogue.js'
import { installFolder } from '../../models/install/install-folder.js'
import { openPackSource, type PackSource } from '../../models/install/pack-source.js'
import {
  loadModelPack,
  type ModelPack,
  ModelPackError,
  networkFiles,
  readPackManifest,
  verifyModelPack,
} from '../../models/pack/model-pack.js'
import { Engine } from '../biometrics/engine/engine.js'
import { type Config, loadConfig } from '../config.js'
import { engineOptions } from '../service.js'
import { action, CommandError, type OutputOptions, print } from './output.js'
import { type Progress, progressBar } from './progress.js'
import { type Field, fields } from './style.js'

export const PACK_JSON = 'pack.json'

export function registerImportCommand(models: Command): void {
  models
    .command('import <pack>')
    .description('check a pack (a folder, .tar.gz or .zip) and copy it into the models folder')
    .option('--replace', 'replace another pack of the same name; its references are not comparable')
    .option('--json', 'print JSON')
    .action(
      action(async (path: string, options: OutputOptions & { replace?: boolean }) => {
        const config = loadConfig()
        const progress = progressBar('Importing')
        const replace = options.replace ?? false
        const install = async () => installPack(await openPackSource(path), path, config, replace, progress)
        printInstalled(options, await install().finally(() => progress.stop()))
      }),
    )
}

/** What is in place now, and how to serve it. */
export function printInstalled(options: OutputOptions, pack: ModelPack): void {
  const { id, description, embedder, calibration } = pack.manifest
  const view = {
    id,
    model: pack.modelId,
    description,
    dir: pack.dir,
    dimensions: embedder.dimensions,
    calibration: calibration.source,
    files: networkFiles(pack.manifest).map(({ file, sha256, licence }) => ({ file, sha256, licence })),
  }
  print(options, view, () =>
    fields([
      ['Pack', view.model],
      ['Description', view.description],
      ['Folder', view.dir],
      ['Embedding', `${view.dimensions} dimensions`],
      ['Calibration', view.calibration],
      ...view.files.map(({ file, licence }): Field => [file, licence]),
      ['To serve it', `COUNTERSIGN_MODEL_PACK=${id}, and restart`],
    ]),
  )
}

/**
 * @param path for messages: where the source is
 * @throws ModelPackError where manifest or files are wrong
 * @throws CommandError pack_exists, pack_unusable, reserved_name
 */
export async function installPack(
  source: PackSource,
  path: string,
  config: Config,
  replace: boolean,
  progress: Progress,
): Promise<ModelPack> {
  const text = await source.read(PACK_JSON)
  if (!text) throw new ModelPackError('pack_not_found', `${path} holds no ${PACK_JSON}`)
  const manifest = readPackManifest(text.toString(), `${PACK_JSON} of ${path}`)
  if (findCataloguePack(manifest.id)?.kind === 'built')
    throw new CommandError(
      'reserved_name',
      `A pack named ${manifest.id} would be built over: give yours another id.`,
    )
  const dir = join(config.modelsDir, manifest.id)
  const networks = networkFiles(manifest)
  const total = networks.length + 1
  const present = await loadModelPack(dir).catch(() => null)
  const isSame = async () => (await readFile(join(dir, PACK_JSON)).catch(() => null))?.equals(text) ?? false
  if (present && !replace && !(await isSame()))
    throw new CommandError(
      'pack_exists',
      `${dir} holds ${present.modelId} already. References are bound to the pack that made them: give this one another id, or --replace it.`,
    )
  const isComplete = async () => (await isSame()) && (await isWhole(dir))
  if (!(await isComplete())) await source.fetch?.()
  await mkdir(config.modelsDir, { recursive: true })
  await installFolder({
    outDir: dir,
    fileNames: [
      PACK_JSON,
      ...[...networks, ...(present ? networkFiles(present.manifest) : [])].map(({ file }) => file),
    ],
    isComplete,
    fill: async (workingDir) => {
      await writeFile(join(workingDir, PACK_JSON), text)
      for (const [index, { file, sha256 }] of networks.entries()) {
        progress.update(index, total, file)
        const bytes = await source.read(file)
        if (!bytes) throw new ModelPackError('pack_file_missing', `${path} holds no ${file}`)
        const actual = createHash('sha256').update(bytes).digest('hex')
        if (actual !== sha256)
          throw new ModelPackError(
            'pack_file_mismatch',
            `${file} has SHA-256 ${actual}, ${PACK_JSON} says ${sha256}`,
          )
        await writeFile(join(workingDir, file), bytes)
      }
      progress.update(total - 1, total, 'trying every network')
      await tryNetworks(workingDir, config)
    },
  })
  return loadModelPack(dir)
}

/** Loads and runs every network as the service would: only then are their shapes known to fit the manifest. */
async function tryNetworks(packDir: string, config: Config): Promise<void> {
  try {
    const engine = await Engine.start({ ...engineOptions(config), packDir, workers: 1 })
    await engine.close()
  } catch (error) {
    if (error instanceof ModelPackError) throw error
    throw new CommandError(
      'pack_unusable',
      `The networks do not run as pack.json says: ${(error as Error).message}`,
    )
  }
}

function isWhole(dir: string): Promise<boolean> {
  return loadModelPack(dir)
    .then(verifyModelPack)
    .then(
      () => true,
      () => false,
    )
}
