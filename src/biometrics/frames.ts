/**
 * Messages with pictures between two processes over one stream. A frame is [u32 length of the message, u32 number of
 * parts, u32 length of each part] in little-endian, the message as V8 serialises it, and the parts as they are: a picture
 * crosses without being encoded.
 */
import { deserialize, serialize } from 'node:v8'

const WORD = 4
const FIXED_HEAD = 2 * WORD

export interface Frame<Message> {
  message: Message
  /** Each in memory of its own. */
  parts: Uint8Array[]
}

/** The pieces of a frame, to be written one after the other. `parts` must stay as they are until then. */
export function encodeFrame(message: unknown, parts: readonly Uint8Array[] = []): Uint8Array[] {
  const body = serialize(message)
  const head = Buffer.allocUnsafe(FIXED_HEAD + parts.length * WORD)
  for (const [index, length] of [body.length, parts.length, ...parts.map((part) => part.length)].entries())
    head.writeUInt32LE(length, index * WORD)
  return [head, body, ...parts]
}

/** Puts frames together from the stream's chunks, however it was cut. Each byte is copied once. */
export class FrameReader<Message> {
  readonly #onFrame: (frame: Frame<Message>) => void
  /** What is being filled, and how far: the fixed head, the lengths of the parts, the message, then part after part. */
  #target: Uint8Array = Buffer.alloc(FIXED_HEAD)
  #filled = 0
  #next: (whole: Uint8Array) => void = (whole) => this.#takeHead(whole)
  #parts: Uint8Array[] = []

  constructor(onFrame: (frame: Frame<Message>) => void) {
    this.#onFrame = onFrame
  }

  /** @param chunk may be reused when this returns */
  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      const count = Math.min(chunk.length - offset, this.#target.length - this.#filled)
      this.#target.set(chunk.subarray(offset, offset + count), this.#filled)
      this.#filled += count
      offset += count
      while (this.#filled === this.#target.length) this.#next(this.#target)
    }
  }

  #expect(length: number, next: (whole: Uint8Array) => void): void {
    this.#target = new Uint8Array(length)
    this.#filled = 0
    this.#next = next
  }

  #takeHead(head: Uint8Array): void {
    const [messageLength, partCount] = words(head) as [number, number]
    this.#expect(partCount * WORD, (lengths) => {
      const partLengths = words(lengths)
      this.#expect(messageLength, (body) => {
        const message = deserialize(body) as Message
        this.#takeParts(message, partLengths)
      })
    })
  }

  #takeParts(message: Message, [length, ...rest]: number[]): void {
    if (length === undefined) {
      const parts = this.#parts
      this.#parts = []
      this.#expect(FIXED_HEAD, (head) => this.#takeHead(head))
      this.#onFrame({ message, parts })
      return
    }
    this.#expect(length, (part) => {
      this.#parts.push(part)
      this.#takeParts(message, rest)
    })
  }
}

function words(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return Array.from({ length: bytes.length / WORD }, (_, i) => view.getUint32(i * WORD, true))
}
