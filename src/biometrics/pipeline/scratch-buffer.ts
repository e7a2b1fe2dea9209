/** A float32 buffer that grows to the largest size asked for and is then reused: no garbage per image. */
export class ScratchBuffer {
  private data = new Float32Array(0)

  /** `length` floats with whatever they held before; valid until the next call. */
  take(length: number): Float32Array {
    if (this.data.length < length) this.data = new Float32Array(length)
    return this.data.subarray(0, length)
  }
}
