/**
 * Prepared statements. After the first answer on a connection the columns of a statement are known, and PostgreSQL keeps them for as long
 * as the connection lasts. So the server is not asked to describe them again, and a request is one message.
 */
import type { Duplex } from 'node:stream'
import pg, { type FieldDef, type QueryConfig, type QueryResult } from 'pg'
import { type ArrivedRow, binaryColumn, type Column, isBinary, textColumn } from './postgres-rows.js'

/** The statements that a connection has prepared, by their names. */
export type KnownStatements = Map<string, KnownStatement>

/** Parts of pg's query that its type declarations leave out: what its client calls to send it and to pass on the answers. */
interface PgQuery {
  name: string
  text: string
  values: unknown[] | undefined
  callback: (error: Error | null, result: QueryResult) => void
  /** The result that is being received. */
  _result: QueryResult
  /** The error that the query reports at its end. */
  _canceledDueToError: unknown
  submit(connection: { stream: Duplex }): Error | null
  handleCommandComplete(message: unknown, connection: unknown): void
}
const PgQuery = pg.Query as unknown as new (query: string | QueryConfig, values?: unknown[]) => PgQuery

/** Makes the query that pg's client sends. @param known the statements of this connection */
export function queryOf(
  known: KnownStatements,
  asked: QueryConfig | string,
  values: unknown[] | undefined,
  callback: PgQuery['callback'],
): PgQuery {
  const query =
    typeof asked === 'object' && asked.name !== undefined
      ? new PreparedQuery(known, asked.name, asked)
      : new PgQuery(asked, values)
  query.callback = callback
  return query
}

class PreparedQuery extends PgQuery {
  private columns: Column[] = []

  constructor(
    private readonly known: KnownStatements,
    name: string,
    { text, values }: QueryConfig,
  ) {
    super(text)
    this.name = name
    this.values = values
  }

  override submit(connection: { stream: Duplex }): Error | null {
    const known = this.known.get(this.name)
    const message = known?.request(this.values ?? [])
    if (!message) return super.submit(connection)
    this.columns = known!.columns
    if (connection.stream.writable) connection.stream.write(message)
    return null
  }

  /** Called when the server describes the columns. */
  handleRowDescription({ fields }: { fields: FieldDef[] }): void {
    this.columns = fields.map(textColumn)
    this.known.set(this.name, new KnownStatement(this.name, fields))
  }

  handleDataRow(row: ArrivedRow): void {
    try {
      this._result.rows.push(row.read(this.columns))
    } catch (error) {
      this._canceledDueToError = error
    }
  }

  override handleCommandComplete(message: unknown, connection: unknown): void {
    if (!this.known.has(this.name)) this.known.set(this.name, new KnownStatement(this.name, []))
    super.handleCommandComplete(message, connection)
  }
}

const TEXT = 0
const BINARY = 1
/** Execute the unnamed portal for all of its rows, then Sync (PostgreSQL manual, 55.7). */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4])

export class KnownStatement {
  /** Columns of the rows that answer `request`. */
  readonly columns: Column[]
  /** The beginning of the Bind message, from the name of its portal, which is empty, to the parameters. */
  private readonly head: Buffer
  /** The end of the Bind message with the formats of the columns, and the messages after it. */
  private readonly tail: Buffer

  constructor(name: string, fields: FieldDef[]) {
    this.columns = fields.map(binaryColumn)
    this.head = Buffer.from(`B\0\0\0\0\0${name}\0`)
    const formats = fields.map((field) => (isBinary(field) ? BINARY : TEXT))
    this.tail = Buffer.concat([int16(formats.length), ...formats.map(int16), EXECUTE_AND_SYNC])
  }

  /** Makes the request. @returns null when a value has a type that pg has to convert */
  request(values: readonly unknown[]): Buffer | null {
    const { head, tail } = this
    const count = values.length
    let bytes = head.length + 2 + 2 * count + 2 + 4 * count + tail.length
    const given: Array<string | Buffer | null> = []
    for (const value of values) {
      const one = sent(value)
      if (one === undefined) return null
      if (one !== null) bytes += typeof one === 'string' ? Buffer.byteLength(one) : one.length
      given.push(one)
    }
    const message = Buffer.allocUnsafe(bytes)
    let at = head.copy(message)
    at = message.writeInt16BE(count, at)
    for (const value of given) at = message.writeInt16BE(value instanceof Buffer ? BINARY : TEXT, at)
    at = message.writeInt16BE(count, at)
    for (const value of given) {
      if (value === null) {
        at = message.writeInt32BE(-1, at)
        continue
      }
      const start = at + 4
      at = start + (typeof value === 'string' ? message.write(value, start) : value.copy(message, start))
      message.writeInt32BE(at - start, start - 4)
    }
    // The length does not count the byte for the kind of the message.
    message.writeInt32BE(at + tail.length - EXECUTE_AND_SYNC.length - 1, 1)
    tail.copy(message, at)
    return message
  }
}

/** @returns the value as it is sent; undefined for a value that pg has to convert */
function sent(value: unknown): string | Buffer | null | undefined {
  if (value === null || value === undefined) return null
  if (typeof value === 'string' || value instanceof Buffer) return value
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}
