/** Lists the installed model packs, complete or not. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadModelPack } from './model-pack.js'

export interface InstalledPack {
  id: string
  /** `id@version`; null for a pack that cannot be read. */
  model: string | null
  description: string
  dir: string
  problem: string | null
}

/**
 * Folders of the models folder, and one more that may lie elsewhere; the network files are not touched.
 * @param modelsDir one that is missing holds none
 * @param elsewhere folder of a configured pack, or null
 */
export async function installedPacks(modelsDir: string, elsewhere: string | null): Promise<InstalledPack[]> {
  const entries = await readdir(modelsDir, { withFileTypes: true }).catch(() => [])
  const dirs = entries
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => join(modelsDir, name))
  if (elsewhere !== null && !dirs.includes(elsewhere)) dirs.push(elsewhere)
  return Promise.all(dirs.map(describePack))
}

async function describePack(dir: string): Promise<InstalledPack> {
  try {
    const { manifest, modelId } = await loadModelPack(dir)
    return { id: manifest.id, model: modelId, description: manifest.description, dir, problem: null }
  } catch (error) {
    return { id: dir, model: null, description: '', dir, problem: (error as Error).message }
  }
}
