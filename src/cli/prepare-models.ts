/** Sees to it that the configured model pack lies ready: packs that come from the registry alone are built where they are missing. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildBaseline } from '../../models/baseline/build-baseline.js'
import type { OnProgress } from '../../models/build/progress.js'
import { buildStandard } from '../../models/standard/build-standard.js'
import { EmbedderUnavailableError } from '../../models/standard/embedder-tarball.js'
import { BASELINE_PACK, DEFAULT_PACK_FILE, STANDARD_PACK } from '../config/default-model-pack.js'
import { type Config, modelPackDir } from '../config.js'

export interface PreparedModels {
  /** The one given, but for the pack where a new installation has to begin with the lesser one. */
  config: Config
  /** What the operator should know of the pack that is served, a sentence or two; else null. */
  warning: string | null
}

const BASELINE_IS_FOR_EVALUATION =
  'The baseline pack is for evaluation: it takes East Asian men for one another hundreds of times more often than the rate ' +
  'that is signed, and no threshold mends that.'

/**
 * Builds the configured pack where it is missing or outdated; packs other than standard and baseline are the operator's to
 * bring. A new installation that cannot have the standard pack begins with the baseline, and stays with it.
 * @throws EmbedderUnavailableError where the standard pack or a file for it was named, or where it has served before
 */
export async function prepareModels(config: Config, onProgress?: OnProgress): Promise<PreparedModels> {
  if (config.modelPack === BASELINE_PACK) return prepareBaseline(config, onProgress)
  if (config.modelPack !== STANDARD_PACK) return { config, warning: null }
  try {
    await buildStandard({ outDir: modelPackDir(config), tarball: config.embedderTarball, onProgress })
  } catch (error) {
    const isFree = !config.isModelPackSettled && config.embedderTarball === undefined
    if (!isFree || !(error instanceof EmbedderUnavailableError)) throw error
    const { config: instead, warning } = await prepareBaseline(
      { ...config, modelPack: BASELINE_PACK, isModelPackSettled: true },
      onProgress,
    )
    return {
      config: instead,
      warning: `The standard model pack cannot be built. ${error.message} ${warning}`,
    }
  }
  if (!config.isModelPackSettled) settle(config)
  return { config, warning: null }
}

async function prepareBaseline(config: Config, onProgress?: OnProgress): Promise<PreparedModels> {
  await buildBaseline({ outDir: modelPackDir(config), ...(onProgress ? { onProgress } : {}) })
  return {
    config,
    warning:
      `${BASELINE_IS_FOR_EVALUATION} To change to the standard pack: set COUNTERSIGN_MODEL_PACK=${STANDARD_PACK}, restart, ` +
      'and enrol everybody again, since references belong to the pack that made them.',
  }
}

/** A baseline pack built beside it later must not take its place. */
function settle({ modelsDir, modelPack }: Config): void {
  mkdirSync(modelsDir, { recursive: true })
  writeFileSync(join(modelsDir, DEFAULT_PACK_FILE), `${modelPack}\n`)
}
