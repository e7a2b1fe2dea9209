/** Installs a pack into the models folder, after running its networks. */
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CodedError } from '../../src/lib/errors.js'
import {
  assertMeasuredWith,
  CALIBRATION_JSON,
  type Calibration,
  calibrationText,
  keepCalibration,
  parseCalibration,
} from '../pack/calibration.js'
import { BUILT_PACKS } from '../pack/known-packs.js'
import {
  holdsWholePack,
  loadModelPack,
  type ModelPack,
  ModelPackError,
  PACK_JSON,
  readPackManifest,
} from '../pack/model-pack.js'
import { networkFiles } from '../pack/network-files.js'
import type { NetworkFile, PackManifest } from '../pack/pack-schema.js'
import { installFolder } from './install-folder.js'
import type { PackSource } from './pack-source.js'
import type { OnProgress } from './progress.js'

export interface InstallOptions {
  /** The folder that gets the pack, in a folder named for its id. */
  modelsDir: string
  /** True to replace another pack of the same id. */
  replace: boolean
  /** Loads and runs every network as the service would: only then are their shapes known to fit the manifest. */
  tryNetworks: (packDir: string) => Promise<void>
  /** Counts the pack's files. */
  onProgress?: OnProgress
}

/**
 * Installs the pack, unless a complete one is in place; then none of the source's networks is read.
 * @param origin name of the source in messages
 * @returns the pack in place
 * @throws ModelPackError for a wrong manifest or files
 * @throws CodedError pack_exists, pack_unusable, reserved_name
 */
export async function installPack(
  source: PackSource,
  origin: string,
  { modelsDir, replace, tryNetworks, onProgress }: InstallOptions,
): Promise<ModelPack> {
  const text = await source.read(PACK_JSON)
  if (!text) throw new ModelPackError('pack_not_found', `${origin} holds no ${PACK_JSON}`)
  const manifest = readPackManifest(text.toString(), `${PACK_JSON} of ${origin}`)
  if (BUILT_PACKS.includes(manifest.id))
    throw new CodedError(
      'reserved_name',
      `A pack named ${manifest.id} would be built over: give yours another id.`,
    )
  const dir = join(modelsDir, manifest.id)
  const networks = networkFiles(manifest)
  const total = networks.length + 1
  const present = await loadModelPack(dir).catch(() => null)
  const isSame = async () => (await readFile(join(dir, PACK_JSON)).catch(() => null))?.equals(text) ?? false
  if (present && !replace && !(await isSame()))
    throw new CodedError(
      'pack_exists',
      `${dir} holds ${present.modelId} already. References are bound to the pack that made them: give this one another id, or --replace it.`,
    )
  const isComplete = async () => (await isSame()) && (await holdsWholePack(dir))
  if (!(await isComplete())) await source.fetch?.()
  await mkdir(modelsDir, { recursive: true })
  await installFolder({
    outDir: dir,
    fileNames: [
      PACK_JSON,
      CALIBRATION_JSON,
      ...[...networks, ...(present ? networkFiles(present.manifest) : [])].map(({ file }) => file),
    ],
    isComplete,
    fill: async (workingDir) => {
      await writeFile(join(workingDir, PACK_JSON), text)
      for (const [index, network] of networks.entries()) {
        onProgress?.(index, total, network.file)
        await writeFile(join(workingDir, network.file), await readChecked(source, origin, network))
      }
      const bytes = await source.read(CALIBRATION_JSON)
      const brought = bytes && readBrought(bytes, origin, manifest)
      const mismatch = brought instanceof ModelPackError ? brought : null
      const calibration = brought instanceof ModelPackError ? null : brought
      // A calibration that was measured here takes precedence over the one that the pack brings.
      const isKept = await keepCalibration(dir, workingDir, manifest, calibration)
      if (calibration && !isKept)
        await writeFile(join(workingDir, CALIBRATION_JSON), calibrationText(calibration))
      onProgress?.(total - 1, total, 'trying every network')
      // The calibration is there already: it says what the networks have to compute.
      await tryNetworks(workingDir).catch(explainUnusable)
      // Last: thresholds that were measured with other networks are the least that can be wrong with them.
      if (mismatch) throw mismatch
    },
  })
  return loadModelPack(dir)
}

async function readChecked(
  source: PackSource,
  origin: string,
  { file, sha256 }: NetworkFile,
): Promise<Buffer> {
  const bytes = await source.read(file)
  if (!bytes) throw new ModelPackError('pack_file_missing', `${origin} holds no ${file}`)
  const actual = createHash('sha256').update(bytes).digest('hex')
  if (actual !== sha256)
    throw new ModelPackError(
      'pack_file_mismatch',
      `${file} has SHA-256 ${actual}, ${PACK_JSON} says ${sha256}`,
    )
  return bytes
}

/** Returns the calibration, or why it cannot be the pack's. */
function readBrought(text: Buffer, origin: string, manifest: PackManifest): Calibration | ModelPackError {
  const path = `${CALIBRATION_JSON} of ${origin}`
  try {
    const calibration = parseCalibration(text.toString(), path)
    assertMeasuredWith(calibration, manifest, path)
    return calibration
  } catch (error) {
    if (error instanceof ModelPackError) return error
    throw error
  }
}

function explainUnusable(cause: Error): never {
  if (cause instanceof ModelPackError) throw cause
  throw new CodedError('pack_unusable', `The networks do not run as ${PACK_JSON} says: ${cause.message}`, {
    cause,
  })
}
