/** Which model pack an installation serves that names none: the first one that it served, since references work only with their pack. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** File in the models folder that records the choice. */
export const DEFAULT_PACK_FILE = 'default-pack'

export const STANDARD_PACK = 'standard'
export const BASELINE_PACK = 'baseline'

/** `isSettled` is false for a new installation, whose default may still change. */
export function defaultModelPack(modelsDir: string) {
  const kept = readText(join(modelsDir, DEFAULT_PACK_FILE))?.trim()
  if (kept === STANDARD_PACK || kept === BASELINE_PACK) return { name: kept, isSettled: true }
  // Installations from before there was a choice have this pack and no file that records it.
  const isOlder = existsSync(join(modelsDir, BASELINE_PACK, 'pack.json'))
  return isOlder ? { name: BASELINE_PACK, isSettled: true } : { name: STANDARD_PACK, isSettled: false }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}
