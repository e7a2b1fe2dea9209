/** The bytes of a template before they are sealed: a header of JSON, then the transformed embedding. */

export interface Consent {
  id: string
  at: string
}

/** JSON before the embedding in a sealed template. */
export interface TemplateHeader {
  consent: Consent | null
  dimensions?: number
  transform?: typeof TRANSFORM
  /** Number of photos. Absent from references that were made before photos were counted: they are of one photo of full weight. */
  views?: number
  weight?: number
  /** Whether the embedding was deleted, so that only the header is left. */
  dropped?: boolean
}

/** Version of `TemplateTransform` that new templates are stored with. */
export const TRANSFORM = 1

/** @param bytes [dimensions] the embedding after the transform; empty for a template that was dropped */
export function packTemplate(header: TemplateHeader, bytes: Buffer): Buffer {
  const json = Buffer.from(JSON.stringify(header))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(json.length)
  return Buffer.concat([length, json, bytes])
}

export function unpackTemplate(plaintext: Buffer): { header: TemplateHeader; bytes: Buffer } {
  const headerEnd = 4 + plaintext.readUInt32LE(0)
  const header = JSON.parse(plaintext.toString('utf8', 4, headerEnd)) as TemplateHeader
  return { header, bytes: plaintext.subarray(headerEnd) }
}

export function bytesOf(values: Float32Array | Float64Array): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength)
}

/** Copies the bytes, because a typed array needs an alignment that a slice of a decrypted buffer may lack. */
export function aligned(bytes: Buffer): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
