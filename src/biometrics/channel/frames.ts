/**
 * Messages with pictures between two processes over one stream. A frame is, in this order (all numbers little-endian u32):
 *
 *   length of the message in bytes | number of parts | length of each part in bytes
 *   the message as JSON
 *   the parts: first the vectors that the message marks as { $vector: index }, then the images
 *
 * Neither a picture nor a vector is ever written out as text. (V8's own serializer, which could hold them, takes several times
 * as long as JSON.) A reader that meets a malformed frame throws FrameError, and its owner closes the stream: after a bad
 * length nothing that follows can be read.
 */
import type { Writable } from 'node:stream'

const WORD = 4
const FIXED_HEAD = 2 * WORD

export interface Frame<Message> {
  message: Message
  /** The images, each in an ArrayBuffer of its own. */
  images: Uint8Array[]
}

/** Placeholder in the JSON for the vector that is this part of the frame; vectors precede the images. */
interface VectorMark {
  $vector: number
}

/**
 * Returns the pieces of a frame, to be written one after the other. The images must not change until they are
 * written.
 * @param message plain data; a Float32Array in it travels as binary
 */
export function encodeFrame(message: unknown, images: readonly Uint8Array[] = []): Uint8Array[] {
  const vectors: Float32Array[] = []
  const json = Buffer.from(JSON.stringify(withMarks(message, vectors)))
  const small = vectors.map(bytesOf)
  const lengths = [...small, ...images].map((part) => part.length)
  const head = Buffer.allocUnsafe(FIXED_HEAD + lengths.length * WORD)
  for (const [index, length] of [json.length, lengths.length, ...lengths].entries())
    head.writeUInt32LE(length, index * WORD)
  // Without images the frame is one piece: writing several pieces takes longer than joining them.
  return [Buffer.concat([head, json, ...small]), ...images]
}

/** Writes a frame in one system call where the stream can. The images must not change until they are written. */
export function writeFrame(stream: Writable, message: unknown, images: readonly Uint8Array[] = []): void {
  stream.cork()
  for (const piece of encodeFrame(message, images)) stream.write(piece)
  stream.uncork()
}

/** Thrown when the stream holds no frame, or a larger one than its reader accepts. */
export class FrameError extends Error {
  override readonly name = 'FrameError'
}

/**
 * Maximum size of a task, in bytes: request bodies can be configured to at most this size, and a task's pictures are
 * part of one.
 */
export const MAX_TASK_BYTES = 256 * 1024 * 1024

/**
 * Maximum number of parts of a frame. A task has at most 40 pictures and one vector; a reply
 * has one vector a picture and one for all of them.
 */
const MAX_PARTS = 64

/** Assembles frames from the stream's chunks, wherever the stream was cut. Each byte is copied once. */
export class FrameReader<Message> {
  /**
   * The buffer that is being filled, and how far: first the fixed head, then the lengths of the parts, the message,
   * and part after part.
   */
  private target = new Uint8Array(FIXED_HEAD)
  private filled = 0
  private next: (whole: Uint8Array) => void = (whole) => this.takeHead(whole)

  /**
   * @param maxBytes limit of message and parts together. The reader allocates as many bytes as the head of a frame announces; this bounds that allocation
   */
  constructor(
    private readonly maxBytes: number,
    private readonly onFrame: (frame: Frame<Message>) => void,
  ) {}

  /**
   * @param chunk may be reused when this returns
   * @throws FrameError when the stream cannot be read any further
   */
  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, this.target.length - this.filled)
      this.target.set(chunk.subarray(offset, offset + count), this.filled)
      this.filled += count
      offset += count
      while (this.filled === this.target.length) this.next(this.target)
    }
  }

  private expect(length: number, next: (whole: Uint8Array) => void): void {
    this.target = new Uint8Array(length)
    this.filled = 0
    this.next = next
  }

  private takeHead(head: Uint8Array): void {
    const [jsonLength, partCount] = words(head) as [number, number]
    if (partCount > MAX_PARTS) throw new FrameError(`a frame of ${partCount} parts`)
    this.expect(partCount * WORD, (lengths) => {
      const partLengths = words(lengths)
      const bytes = partLengths.reduce((sum, length) => sum + length, jsonLength)
      if (bytes > this.maxBytes) throw new FrameError(`a frame of ${bytes} bytes`)
      this.expect(jsonLength, (json) => this.takeParts(json, partLengths, []))
    })
  }

  private takeParts(json: Uint8Array, [length, ...rest]: number[], parts: Uint8Array[]): void {
    if (length === undefined) {
      this.expect(FIXED_HEAD, (head) => this.takeHead(head))
      this.onFrame(decode<Message>(json, parts))
    } else this.expect(length, (part) => this.takeParts(json, rest, [...parts, part]))
  }
}

function decode<Message>(json: Uint8Array, parts: Uint8Array[]): Frame<Message> {
  try {
    const vectors: Float32Array[] = []
    const message = withVectors(JSON.parse(Buffer.from(json.buffer).toString()), parts, vectors) as Message
    return { message, images: parts.slice(vectors.length) }
  } catch (cause) {
    throw new FrameError('a frame whose message cannot be read', { cause })
  }
}

// Both functions walk the value by hand: the callbacks that JSON.stringify and JSON.parse take cost ten times as
// much.

/** Returns a copy with a mark in each vector's place, and appends the vectors to `vectors`. */
function withMarks(value: unknown, vectors: Float32Array[]): unknown {
  if (value instanceof Float32Array) return { $vector: vectors.push(value) - 1 } satisfies VectorMark
  if (Array.isArray(value)) return value.map((item) => withMarks(item, vectors))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withMarks(item, vectors)]))
}

/** Puts the vectors back in their marks' places. @throws FrameError when a part is missing or is no vector */
function withVectors(value: unknown, parts: readonly Uint8Array[], vectors: Float32Array[]): unknown {
  if (typeof value !== 'object' || value === null) return value
  const part = (value as Partial<VectorMark>).$vector
  if (part !== undefined) {
    // Marks must name the vectors in the order in which they were written: a repeated or missing mark would shift the
    // images.
    if (part !== vectors.length) throw new FrameError('a vector out of turn')
    const vector = new Float32Array(parts[part]!.buffer)
    vectors.push(vector)
    return vector
  }
  const fields = value as Record<string, unknown>
  for (const key of Object.keys(fields)) fields[key] = withVectors(fields[key], parts, vectors)
  return value
}

function bytesOf({ buffer, byteOffset, byteLength }: Float32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function words(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / WORD }, (_, i) => view.getUint32(i * WORD, true))
}
