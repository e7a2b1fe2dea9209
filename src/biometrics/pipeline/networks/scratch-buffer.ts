/** A float32 buffer that grows to the largest requested size and is then reused, so that images create no garbage. */
export class ScratchBuffer {
  private data = new Float32Array(0)

  /** Returns `length` floats with their old contents; valid until the next call. */
  take(length: number): Float32Array {
    if (this.data.length < length) this.data = new Float32Array(length)
    return this.data.subarray(0, length)
  }
}
