/** Downloads a pack of the catalogue and installs it; the next call continues a download that was cut off. */
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { downloadFile } from '../../../models/install/download.js'
import { type InstallOptions, installPack } from '../../../models/install/install-pack.js'
import type { PackSource } from '../../../models/install/pack-source.js'
import type { OnProgress } from '../../../models/install/progress.js'
import { CALIBRATION_JSON } from '../../../models/pack/calibration.js'
import { type ModelPack, PACK_JSON } from '../../../models/pack/model-pack.js'
import { buildNetwork, packJsonText } from '../build/build-pack.js'
import type { PulledPack } from '../build/catalogue-entry.js'

export interface PullOptions extends InstallOptions {
  /** Address of a server that has the files under their paths in the repository, without a slash at its end. */
  mirror?: string | undefined
  /** Counts the bytes that are there. */
  onProgress?: OnProgress
}

/**
 * Downloads and installs the pack. Downloaded files stay in a hidden folder in the models folder until the pack is in
 * place.
 * @throws CodedError download_failed, checksum_mismatch and those of `installPack`
 */
export async function pullPack(
  entry: PulledPack,
  { mirror, onProgress, ...install }: PullOptions,
): Promise<ModelPack> {
  const folder = join(install.modelsDir, `.${entry.id}.download`)
  const packJson = Buffer.from(packJsonText(entry.document(entry.files)))
  const source: PackSource = {
    fetch: () => downloadFiles(entry, folder, mirror, onProgress),
    read: async (name) => {
      if (name === PACK_JSON) return packJson
      if (name === CALIBRATION_JSON && entry.calibration)
        return Buffer.from(packJsonText(entry.calibration()))
      const recipe = entry.built.find(({ file }) => file === name)
      return recipe ? Buffer.from(await buildNetwork(recipe)) : readFile(join(folder, name)).catch(() => null)
    },
  }
  const pack = await installPack(source, entry.id, install)
  await rm(folder, { recursive: true, force: true })
  return pack
}

async function downloadFiles(
  { files }: PulledPack,
  folder: string,
  mirror: string | undefined,
  onProgress: OnProgress | undefined,
): Promise<void> {
  const downloads = files.flatMap(({ download, ...file }) => (download ? [{ ...file, download }] : []))
  const total = downloads.reduce((sum, { bytes }) => sum + bytes, 0)
  let before = 0
  for (const { file, sha256, bytes, download } of downloads) {
    // A mirror may use plain HTTP: the checksum proves the file.
    const url = mirror ? `${mirror}/${download.path}` : download.url
    await downloadFile({ url, sha256, bytes }, join(folder, file), (there) =>
      onProgress?.(before + there, total, file),
    )
    before += bytes
  }
}
