/** Reads the values of rows directly from the bytes that arrive; pg would first make strings of all of them. */
import { EventEmitter } from 'node:events'
import pg, { type Connection, type FieldDef } from 'pg'

/** Length of a message's header: a byte for its kind, then four for its length, which counts itself (PostgreSQL manual, 55.7). */
const HEADER_BYTES = 5
const DATA_ROW = 'D'.charCodeAt(0)
const { builtins } = pg.types

type Read = (bytes: Buffer, start: number, end: number) => unknown

export interface Column {
  name: string
  read: Read
}

/** Types that are read from their binary form, which costs less than their text. All others come as text. */
const BINARY = new Map<number, Read>([
  [builtins.BYTEA, copy],
  // Times are milliseconds, far below 2^53, so they become numbers; pg would make strings of bigint.
  [builtins.INT8, (bytes, start) => bytes.readInt32BE(start) * 2 ** 32 + bytes.readUInt32BE(start + 4)],
  [builtins.INT4, (bytes, start) => bytes.readInt32BE(start)],
  [builtins.FLOAT8, (bytes, start) => bytes.readDoubleBE(start)],
  [builtins.BOOL, (bytes, start) => bytes[start] === 1],
])

export function isBinary({ dataTypeID }: FieldDef): boolean {
  return BINARY.has(dataTypeID)
}

/** How to read a column, in binary form where there is one. */
export function binaryColumn(field: FieldDef): Column {
  const read = BINARY.get(field.dataTypeID)
  return read ? { name: field.name, read } : textColumn(field)
}

export function textColumn({ name, dataTypeID }: FieldDef): Column {
  const parse = types.getTypeParser(dataTypeID)
  return { name, read: (bytes, start, end) => parse(bytes.toString('utf8', start, end)) }
}

/** How pg reads the columns that come as text. */
export const types = {
  getTypeParser: ((oid: number) =>
    oid === builtins.INT8 ? Number : pg.types.getTypeParser(oid, 'text')) as typeof pg.types.getTypeParser,
}

/** A row whose bytes are valid only until the listener that got it has returned. */
export class ArrivedRow {
  readonly name = 'dataRow'

  constructor(
    private readonly bytes: Buffer,
    private readonly at: number,
  ) {}

  read(columns: readonly Column[]): Record<string, unknown> {
    const { bytes } = this
    const row: Record<string, unknown> = {}
    let start = this.at + 2
    for (const { name, read } of columns) {
      const length = bytes.readInt32BE(start)
      start += 4
      if (length < 0) row[name] = null
      else {
        row[name] = read(bytes, start, start + length)
        start += length
      }
    }
    return row
  }

  /** The values as texts, as pg's own queries expect them. */
  get fields(): Array<string | null> {
    const { bytes } = this
    let start = this.at + 2
    return Array.from({ length: bytes.readInt16BE(this.at) }, () => {
      const length = bytes.readInt32BE(start)
      start += 4
      if (length < 0) return null
      start += length
      return bytes.toString('utf8', start - length, start)
    })
  }
}

/** Parts of pg's connection that its type declarations leave out. */
interface ParsingConnection extends Connection {
  /** Parses the bytes of the stream, and emits a message at a time. */
  attachListeners(stream: EventEmitter): void
}

/** Makes the connection emit an ArrivedRow for each row. Must be called before connecting. */
export function leaveRowsAsTheyArrive(connection: Connection): void {
  const parsing = connection as ParsingConnection
  const parse = parsing.attachListeners.bind(parsing)
  parsing.attachListeners = (stream) => {
    /** Carries to pg all messages but rows. */
    const others = new EventEmitter()
    parse(others)
    let begun: Buffer | null = null
    stream.on('data', (chunk: Buffer) => {
      const bytes: Buffer = begun ? Buffer.concat([begun, chunk]) : chunk
      let at = 0
      let otherFrom = 0
      while (at + HEADER_BYTES <= bytes.length) {
        const end = at + 1 + bytes.readUInt32BE(at + 1)
        if (end > bytes.length) break
        if (bytes[at] === DATA_ROW) {
          if (otherFrom < at) others.emit('data', bytes.subarray(otherFrom, at))
          parsing.emit('dataRow', new ArrivedRow(bytes, at + HEADER_BYTES))
          otherFrom = end
        }
        at = end
      }
      if (otherFrom < at) others.emit('data', bytes.subarray(otherFrom, at))
      begun = at < bytes.length ? bytes.subarray(at) : null
    })
  }
}

/** Copies the bytes of a value, because the buffer holds other messages too and would be kept whole. */
function copy(bytes: Buffer, start: number, end: number): Buffer {
  return Buffer.from(bytes.subarray(start, end))
}
