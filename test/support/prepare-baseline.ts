/** The model pack that campaigns run on: each prepares it itself, so that any of them may be the first command on a fresh clone. */
import { join } from 'node:path'
import { buildBaseline } from '../../tools/pack-builders/baseline/build-baseline.js'
import { MODELS_DIR } from './models-dir.js'

/** Builds the baseline pack from the installed packages where it is missing, and only checks it where it is there. */
export async function prepareBaseline(): Promise<void> {
  await buildBaseline({ outDir: join(MODELS_DIR, 'baseline') })
}

/** Settings of a service that loads this pack, even where other packs are installed. */
export const ON_BASELINE = {
  COUNTERSIGN_MODELS_DIR: MODELS_DIR,
  COUNTERSIGN_MODEL_PACK: 'baseline',
  COUNTERSIGN_ACCEPT_PACK: 'baseline',
} as const
