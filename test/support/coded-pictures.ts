/** Ordinary pictures with other segments or chunks, for the readers of their headers. */
import { crc32 } from 'node:zlib'

/** The same JPEG with a piece of a color profile that holds this text. */
export function withProfile(jpeg: Buffer, text: string): Buffer {
  return withSegment(jpeg, 0xe2, Buffer.from(`ICC_PROFILE\0\x01\x01${text}`, 'latin1'))
}

export function withComment(jpeg: Buffer, comment: Buffer): Buffer {
  return withSegment(jpeg, 0xfe, comment)
}

/** The same JPEG with a byte before its first segment that decoders pass over. */
export function withFillByte(jpeg: Buffer): Buffer {
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.of(0xff), jpeg.subarray(2)])
}

/** The same JPEG whose frame has another marker, so that no decoder can read it any more. */
export function withFrame(jpeg: Buffer, marker: number): Buffer {
  const frame = [0xc0, 0xc2].map((known) => jpeg.indexOf(Buffer.of(0xff, known))).find((at) => at > 0)!
  const copy = Buffer.from(jpeg)
  copy[frame + 1] = marker
  return copy
}

export function withSegment(jpeg: Buffer, marker: number, content: Buffer): Buffer {
  const head = Buffer.of(0xff, marker, 0, 0)
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([jpeg.subarray(0, 2), head, content, jpeg.subarray(2)])
}

const PNG_HEADER_END = 33

/** The same PNG with a chunk behind its header. */
export function withPngChunk(png: Buffer, type: string, content: Buffer): Buffer {
  return Buffer.concat([
    png.subarray(0, PNG_HEADER_END),
    pngChunk(type, content),
    png.subarray(PNG_HEADER_END),
  ])
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(typed))
  return Buffer.concat([length, typed, checksum])
}
