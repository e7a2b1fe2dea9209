/**
 * Builds a pack whose networks are made locally: every file is pinned, so a complete pack in place can be recognized.
 */
import { createHash } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installFolder } from '../../../models/install/install-folder.js'
import type { OnProgress } from '../../../models/install/progress.js'
import {
  CALIBRATION_JSON,
  type Calibration,
  holdsOwnCalibration,
  keepCalibration,
} from '../../../models/pack/calibration.js'
import { holdsWholePack, PACK_JSON, parsePackManifest } from '../../../models/pack/model-pack.js'
import { packageFile } from '../../../src/lib/package-root.js'

/** A network that a script makes. */
export interface NetworkRecipe {
  file: string
  pin: { sha256: string; bytes: number }
  build: () => Promise<Uint8Array>
}

export interface BuiltFile {
  file: string
  sha256: string
  bytes: number
}

export interface PackRecipe {
  /** Folder of the pack: new or empty, or with an older pack of the same files, which is replaced. */
  outDir: string
  /** The content of pack.json. */
  document: object
  /** Calibration that is written next to pack.json unless the operator has put an own one in place. */
  calibration: Calibration
  networks: readonly NetworkRecipe[]
  /** The last call has `done === total`, also when the pack was there already. */
  onProgress?: OnProgress | undefined
}

/**
 * Writes the pack as one step and lists its files. A complete pack in place is kept; of an incomplete one, every
 * undamaged network is kept.
 * @throws Error when a network differs from its pinned SHA-256; any error of a recipe
 */
export async function buildPack({
  outDir,
  document,
  calibration,
  networks,
  onProgress,
}: PackRecipe): Promise<BuiltFile[]> {
  const manifest = parsePackManifest(document)
  const packJson = Buffer.from(packJsonText(document))
  const calibrationJson = Buffer.from(packJsonText(calibration))
  const files: BuiltFile[] = [
    ...networks.map(({ file, pin }) => ({ file, ...pin })),
    { file: PACK_JSON, sha256: sha256Of(packJson), bytes: packJson.byteLength },
  ]
  const total = files.length + 1
  let done = 0
  await installFolder({
    outDir,
    fileNames: [...files.map(({ file }) => file), CALIBRATION_JSON],
    isComplete: async (dir) =>
      (await holds(dir, PACK_JSON, packJson)) &&
      ((await holds(dir, CALIBRATION_JSON, calibrationJson)) || (await holdsOwnCalibration(dir, manifest))) &&
      (await holdsWholePack(dir)),
    fill: async (workingDir) => {
      for (const recipe of networks) {
        // Networks that an older pack already holds are not made again: their sources may be out of reach by now. The archive of a release
        // brings the networks of its pack along.
        const present =
          (await readPinned(outDir, recipe.file, recipe.pin.sha256)) ??
          (await readPinned(packageFile('packs', manifest.id), recipe.file, recipe.pin.sha256))
        await writeDurably(join(workingDir, recipe.file), present ?? (await buildNetwork(recipe)))
        onProgress?.(++done, total, recipe.file)
      }
      if (!(await keepCalibration(outDir, workingDir, manifest, calibration)))
        await writeDurably(join(workingDir, CALIBRATION_JSON), calibrationJson)
      // pack.json comes last, because a folder without it is no pack.
      await writeDurably(join(workingDir, PACK_JSON), packJson)
      onProgress?.(++done, total, PACK_JSON)
    },
  })
  onProgress?.(total, total, 'model pack')
  return files
}

/** Makes the network and checks it against its pin. */
export async function buildNetwork({ file, pin, build }: NetworkRecipe): Promise<Uint8Array> {
  const bytes = await build()
  const sha256 = sha256Of(bytes)
  if (sha256 !== pin.sha256) {
    throw new Error(
      `${file} came out with SHA-256 ${sha256} (${bytes.byteLength} bytes), expected ${pin.sha256}. ` +
        'Its weights are right, so the code that writes it or one of the packages it uses is not the version that was ' +
        'checked: run "npm ci" and rebuild. After an intended change to the graph, update its pin.',
    )
  }
  return bytes
}

export function packJsonText(document: object): string {
  return `${JSON.stringify(document, null, 2)}\n`
}

async function holds(dir: string, file: string, bytes: Uint8Array): Promise<boolean> {
  return (await readPinned(dir, file, sha256Of(bytes))) !== null
}

/** The file's bytes; null if it is missing or differs. */
async function readPinned(dir: string, file: string, sha256: string): Promise<Uint8Array | null> {
  const bytes = await readFile(join(dir, file)).catch(() => null)
  return bytes && sha256Of(bytes) === sha256 ? bytes : null
}

/** Flushed to the disk, so that the rename that follows cannot outlive the content in a power failure. */
async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, 'wx')
  try {
    await handle.writeFile(bytes)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
