/**
 * Cache of the engine's result for each photo, on disk: an interrupted evaluation continues where it ended, and a
 * second one on the same photos computes nothing. Embeddings are biometric data: only the owner can read the file,
 * and it may be deleted.
 */
import { createHash } from 'node:crypto'
import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { QualityComponents } from '../../src/biometrics/measurements.js'

/** Properties of a photo that help to locate errors. */
export interface PhotoFace {
  /** Yaw of the head in degrees, to either side; null if the pack finds no facial points. */
  yawDegrees: number | null
  components: QualityComponents
  /** True if the largest face is not the one nearest the middle. */
  isAmbiguous: boolean
}

export interface PhotoResult {
  /** [dimensions] float32; null if the photo could not be used. */
  embedding: Float32Array | null
  /** Quality score, 0..1; null if the photo could not be used. */
  quality: number | null
  /** Properties of the face; null if the photo could not be used. */
  face: PhotoFace | null
  /** The execution provider that ran the networks. */
  provider: string
  /** Error code if the photo could not be used, else null. */
  refusal: string | null
}

/** A line of the file, with the embedding in base64, little-endian. */
interface Line extends Omit<PhotoResult, 'embedding'> {
  photo: string
  embedding: string | null
}

/** Version of the lines: raise it when their content changes. */
const FORMAT = 4

export class EmbeddingCache {
  private constructor(
    private readonly known: Map<string, PhotoResult>,
    private readonly file: FileHandle,
  ) {}

  /** @param settings everything that decides an embedding besides the photo: another value opens another file */
  static async open(folder: string, settings: object): Promise<EmbeddingCache> {
    const name = createHash('sha256')
      .update(JSON.stringify({ format: FORMAT, ...settings }))
      .digest('hex')
      .slice(0, 32)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `${name}.jsonl`)
    const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return ''
      throw error
    })
    const known = new Map<string, PhotoResult>()
    for (const line of text.split('\n')) {
      const entry = parseLine(line)
      if (entry) known.set(entry.photo, resultOf(entry))
    }
    const file = await open(path, 'a', 0o600)
    // This ends a line that an interruption cut in half, so that the next one starts on a line of its own.
    if (text !== '' && !text.endsWith('\n')) await file.write('\n')
    return new EmbeddingCache(known, file)
  }

  get(photo: string): PhotoResult | undefined {
    return this.known.get(photo)
  }

  /** @param photo SHA-256 of the file */
  async put(photo: string, result: PhotoResult): Promise<void> {
    this.known.set(photo, result)
    const { embedding, ...rest } = result
    const bytes = embedding && Buffer.from(embedding.buffer, embedding.byteOffset, embedding.byteLength)
    const line: Line = { photo, embedding: bytes?.toString('base64') ?? null, ...rest }
    await this.file.write(`${JSON.stringify(line)}\n`)
  }

  async close(): Promise<void> {
    await this.file.close()
  }
}

function parseLine(text: string): Line | null {
  try {
    return JSON.parse(text) as Line
  } catch {
    return null
  }
}

function resultOf({ photo, embedding, ...rest }: Line): PhotoResult {
  if (embedding === null) return { embedding, ...rest }
  // Copied, because a pooled Buffer may start where no float32 can.
  const bytes = Uint8Array.from(Buffer.from(embedding, 'base64'))
  return { embedding: new Float32Array(bytes.buffer), ...rest }
}
