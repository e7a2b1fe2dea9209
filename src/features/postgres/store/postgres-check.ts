/** Checks whether a PostgreSQL database is whole, as far as reading it shows. */
import type { ClientBase } from 'pg'

/** Reads every row, and checks every index where the extension amcheck may be used. @returns a line for each problem */
export async function examinePostgres(client: ClientBase): Promise<string[]> {
  const issues: string[] = []
  const attempt = async (what: string, sql: string, values: unknown[] = []) => {
    try {
      await client.query(sql, values)
    } catch (error) {
      issues.push(`${what}: ${(error as Error).message}`)
    }
  }
  const tables = await client.query<{ name: string; quoted: string }>(
    `SELECT tablename AS name, quote_ident(tablename) AS quoted FROM pg_tables WHERE schemaname = current_schema() ORDER BY 1`,
  )
  // PostgreSQL reads a value that is stored outside of its row only when the query uses the value.
  for (const { name, quoted } of tables.rows)
    await attempt(name, `SELECT sum(length(one::text)) FROM ${quoted} AS one`)
  const amcheck = await client.query(
    `SELECT 1 FROM pg_proc WHERE oid = to_regprocedure('bt_index_check(regclass)') AND has_function_privilege(oid, 'EXECUTE')`,
  )
  if (amcheck.rowCount === 0) return issues
  const indexes = await client.query<{ name: string }>(
    `SELECT pg_class.oid::regclass::text AS name FROM pg_class JOIN pg_am ON pg_am.oid = relam
     WHERE relkind = 'i' AND amname = 'btree' AND relnamespace = current_schema()::regnamespace ORDER BY 1`,
  )
  for (const { name } of indexes.rows)
    await attempt(name, 'SELECT bt_index_check($1::text::regclass)', [name])
  return issues
}
