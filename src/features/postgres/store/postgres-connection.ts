/** Statements of a Store over PostgreSQL. Each connection prepares a statement under a name when it first sends it. */
import { createHash } from 'node:crypto'
import type { QueryResult } from 'pg'
import type { Connection, Statement, StatementKind } from '../../../storage/connection.js'
import { entryText } from './postgres-indexes.js'
import type { PostgresQuery } from './postgres-pool.js'

/** Sends one statement. @throws errors as translatePostgres makes them */
export type Send = (query: PostgresQuery, isWrite: boolean) => Promise<QueryResult>

interface Compiled {
  name: string
  /** The SQL with the parameters $1, $2, … */
  text: string
  /** Names of the parameters in their order; null when the parameters have no names. */
  parameters: string[] | null
  isQuick: boolean
}

/** Makes the connection of a store. The failure of a write that nobody awaits is not reported: `send` has to remember it. */
export function postgresConnection(send: Send): Connection {
  return {
    skipLocked: 'FOR UPDATE SKIP LOCKED',
    entryText,
    prepare: (sql, kind) => statement(compile(sql, kind), send),
  }
}

function statement<Parameters extends unknown[], Row>(
  compiled: Compiled,
  send: Send,
): Statement<Parameters, Row> {
  const { name, text, parameters, isQuick } = compiled
  const query = (given: Parameters, isWrite = false) => {
    const named = parameters && (given[0] as Record<string, unknown>)
    const values = named ? parameters.map((field) => named[field]) : given
    return send({ name, text, values, isQuick }, isWrite)
  }
  return {
    get: async (...given) => (await query(given)).rows[0],
    all: async (...given) => (await query(given)).rows,
    run: (...given) => {
      const done = query(given, true).then(({ rowCount }) => ({ changes: rowCount ?? 0 }))
      done.catch(() => {})
      return done
    },
  }
}

/** Compiled statements, shared by all connections. */
const known = new Map<string, Compiled>()

function compile(sql: string, kind: StatementKind | undefined): Compiled {
  const compiled = known.get(sql) ?? { ...translate(sql), isQuick: kind === 'brief' }
  known.set(sql, compiled)
  return compiled
}

function translate(sql: string): Omit<Compiled, 'isQuick'> {
  const names: string[] = []
  let count = 0
  const text = sql.replace(/\?|@(\w+)/g, (_, name?: string) => {
    if (name === undefined) return `$${++count}`
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  // The name follows from the SQL, so that it stands for one text on a connection.
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 16)
  return { name, text, parameters: names.length > 0 ? names : null }
}
