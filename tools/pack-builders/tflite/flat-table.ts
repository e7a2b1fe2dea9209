/** Reads tables of a FlatBuffer, field by field, without generated code. */
import { ByteBuffer } from 'flatbuffers'

/** Each field of a table has a two-byte slot in its vtable, after the vtable's two sizes. */
const FIRST_SLOT_BYTES = 4
const SLOT_BYTES = 2
const INT32_BYTES = 4

/** Fields are named by their position in the schema; one that is absent has its default. */
export class FlatTable {
  private constructor(
    private readonly buffer: ByteBuffer,
    private readonly position: number,
  ) {}

  /** @throws Error when the file's identifier is another */
  static root(bytes: Uint8Array, identifier: string): FlatTable {
    const buffer = new ByteBuffer(bytes)
    const found = bytes.byteLength < 2 * INT32_BYTES ? '' : buffer.getBufferIdentifier()
    if (found !== identifier) throw new Error(`the file's identifier is '${found}', expected '${identifier}'`)
    return new FlatTable(buffer, buffer.readInt32(0))
  }

  int8(field: number, absent = 0): number {
    const at = this.positionOf(field)
    return at === null ? absent : this.buffer.readInt8(at)
  }

  int32(field: number, absent = 0): number {
    const at = this.positionOf(field)
    return at === null ? absent : this.buffer.readInt32(at)
  }

  int32s(field: number): number[] {
    const vector = this.vectorOf(field, INT32_BYTES)
    return Array.from({ length: vector?.length ?? 0 }, (_, i) =>
      this.buffer.readInt32(vector!.start + i * INT32_BYTES),
    )
  }

  bytes(field: number): Uint8Array {
    const vector = this.vectorOf(field, 1)
    return vector
      ? this.buffer.bytes().subarray(vector.start, vector.start + vector.length)
      : new Uint8Array(0)
  }

  table(field: number): FlatTable | null {
    const at = this.positionOf(field)
    return at === null ? null : new FlatTable(this.buffer, this.buffer.__indirect(at))
  }

  tables(field: number): FlatTable[] {
    const vector = this.vectorOf(field, INT32_BYTES)
    return Array.from(
      { length: vector?.length ?? 0 },
      (_, i) => new FlatTable(this.buffer, this.buffer.__indirect(vector!.start + i * INT32_BYTES)),
    )
  }

  private positionOf(field: number): number | null {
    const offset = this.buffer.__offset(this.position, FIRST_SLOT_BYTES + SLOT_BYTES * field)
    return offset === 0 ? null : this.position + offset
  }

  /** @throws Error if the file ends before the vector does: its length may be any number */
  private vectorOf(field: number, itemBytes: number): { start: number; length: number } | null {
    const at = this.positionOf(field)
    if (at === null) return null
    const start = this.buffer.__vector(at)
    const length = this.buffer.__vector_len(at)
    if (length < 0 || start + length * itemBytes > this.buffer.capacity())
      throw new Error(`a vector of ${length} items does not fit the file`)
    return { start, length }
  }
}
