/** The embedder's package for tests: null, with a reason to skip by, on a machine that cannot have it. */
import { EmbedderUnavailableError, readEmbedderModel } from '../../models/standard/embedder-tarball.js'

export async function findEmbedderModel(): Promise<
  { bytes: Uint8Array; missing: null } | { bytes: null; missing: string }
> {
  try {
    const bytes = await readEmbedderModel(process.env.COUNTERSIGN_EMBEDDER_TARBALL)
    return { bytes, missing: null }
  } catch (error) {
    if (!(error instanceof EmbedderUnavailableError)) throw error
    return { bytes: null, missing: error.message }
  }
}
