/** Recognises bytes by what they are and not by their class: in tests under jsdom, bytes of Node are of another realm's class. */

/** @returns a view of the bytes in this realm's class; null for a value that is neither a Uint8Array nor an ArrayBuffer */
export function bytesOf(value: unknown): Uint8Array<ArrayBuffer> | null {
  const kind = kindOf(value)
  if (kind === 'ArrayBuffer') return new Uint8Array(value as ArrayBuffer)
  if (kind !== 'Uint8Array' || !ArrayBuffer.isView(value)) return null
  return new Uint8Array(value.buffer as ArrayBuffer, value.byteOffset, value.byteLength)
}

/** @returns such as `Uint8Array`, `ArrayBuffer`, `Blob` or `File`, in whichever realm the value was made */
export function kindOf(value: unknown): string {
  return Object.prototype.toString.call(value).slice('[object '.length, -1)
}
