/**
 * Lists and reads the network files of a pack, without the schema of the manifest, on which a worker that only loads
 * networks would spend a third of its start.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasByteDotProducts } from './cpu-features.js'
import { ModelPackError } from './model-pack-error.js'
import type { NetworkFile, PackManifest } from './pack-schema.js'

export interface PackPlace {
  dir: string
  /** `id@version`: what a reference remembers. Scores of different ids are never compared. */
  modelId: string
}

/** Every network file of a pack: detector, landmarks, embedder, liveness, in this order, each followed by its 8-bit form. */
export function networkFiles(manifest: PackManifest): NetworkFile[] {
  const { detector, landmarks, embedder, liveness } = manifest
  const networks = [detector, ...(landmarks ? [landmarks] : []), embedder, ...(liveness?.networks ?? [])]
  return networks.flatMap((network) => (network.quantised ? [network, quantisedFile(network)] : [network]))
}

/** Processors run a network in 8 bits where they can and the pack has it; accelerators are at home in floating point. */
export function fileForProvider(network: NetworkFile, provider: string): NetworkFile {
  return provider === 'cpu' && hasByteDotProducts ? quantisedFile(network) : network
}

/** The network itself where there is no 8-bit form of it. */
function quantisedFile({ quantised, ...network }: NetworkFile): NetworkFile {
  return { ...network, ...quantised }
}

/**
 * The bytes of one network, hashed as read: what was checked is what is then loaded.
 * @throws ModelPackError pack_file_missing, pack_file_mismatch
 */
export async function readNetwork(pack: PackPlace, network: NetworkFile): Promise<Uint8Array> {
  const path = join(pack.dir, network.file)
  const bytes = await readFile(path).catch((cause) => {
    throw new ModelPackError('pack_file_missing', `pack ${pack.modelId}: cannot read ${path}`, { cause })
  })
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== network.sha256) {
    throw new ModelPackError(
      'pack_file_mismatch',
      `pack ${pack.modelId}: ${path} has SHA-256 ${actual}, pack.json says ${network.sha256}`,
    )
  }
  return bytes
}
