/**
 * Statements under a name. Once one has been answered on a connection it is known what rows it has, which PostgreSQL keeps so for as
 * long as the connection lasts: it is not asked to describe them again, and what is asked for leaves in one message.
 */
import type { Duplex } from 'node:stream'
import pg, { type FieldDef, type QueryConfig, type QueryResult } from 'pg'
import { type ArrivedRow, binaryColumn, type Column, isBinary, textColumn } from './postgres-rows.js'

/** Of one connection, by their names. */
export type KnownStatements = Map<string, KnownStatement>

/** Of pg, what its types leave out: a query as its client sends it and hands on the answers. */
interface PgQuery {
  name: string
  text: string
  values: unknown[] | undefined
  callback: (error: Error | null, result: QueryResult) => void
  /** Of the answer that is on its way. */
  _result: QueryResult
  /** Told at its end. */
  _canceledDueToError: unknown
  submit(connection: { stream: Duplex }): Error | null
  handleCommandComplete(message: unknown, connection: unknown): void
}
const PgQuery = pg.Query as unknown as new (query: string | QueryConfig, values?: unknown[]) => PgQuery

/** Of one of these connections, for what is asked of it. */
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

  /** Comes where it was asked to describe them. */
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
/** PostgreSQL manual, 55.7: Execute of the portal without a name, for all of its rows; then Sync. */
const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4])

export class KnownStatement {
  /** Of what `request` is answered with. */
  readonly columns: Column[]
  /** Bind, from its portal, which has no name, to the parameters. */
  private readonly head: Buffer
  /** The formats of the answer, and what follows. */
  private readonly tail: Buffer

  constructor(name: string, fields: FieldDef[]) {
    this.columns = fields.map(binaryColumn)
    this.head = Buffer.from(`B\0\0\0\0\0${name}\0`)
    const formats = fields.map((field) => (isBinary(field) ? BINARY : TEXT))
    this.tail = Buffer.concat([int16(formats.length), ...formats.map(int16), EXECUTE_AND_SYNC])
  }

  /** @returns null where a value is none of those that are sent most */
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
    // The kind of the message is not counted.
    message.writeInt32BE(at + tail.length - EXECUTE_AND_SYNC.length - 1, 1)
    tail.copy(message, at)
    return message
  }
}

/** @returns undefined for what pg is to make something of */
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
