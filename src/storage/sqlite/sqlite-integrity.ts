/** Findings of SQLite's own integrity check, in lines that name the table or the index. */
import Database from 'better-sqlite3'

/** Findings after which SQLite ends its check. They include pages that SQLite calls unused, which are left out below. */
const MAX_FINDINGS = 1000

/** @returns an empty list for a database without damage */
export function integrityIssues(database: Database.Database): string[] {
  const found: string[] = []
  try {
    const rows = database.prepare(`PRAGMA integrity_check(${MAX_FINDINGS})`).pluck().iterate()
    // One row may contain several lines.
    for (const row of rows) found.push(...(row as string).split('\n'))
  } catch (error) {
    if (!(error instanceof Database.SqliteError)) throw error
    // The check may end at the damage: its findings up to there are kept.
    if (!isDamage(error) && found.length === 0) throw error
    if (found.length === 0) found.push(error.message)
  }
  const lines = found.filter((line) => line !== 'ok' && !line.startsWith('*** in database'))
  // A damaged page makes all pages below it look unused; the finding about the damaged page says more.
  const remaining = lines.filter((line) => !line.endsWith(': never used'))
  return withNames(database, remaining.length > 0 ? remaining : lines)
}

/** Whether SQLite reports that the file is damaged, or is no database. */
export function isDamage(error: unknown): boolean {
  return error instanceof Database.SqliteError && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}

/** Replaces the page in "Tree 20 page 31: …", the first page of a table or an index, by its name. */
function withNames(database: Database.Database, lines: string[]): string[] {
  let names: Map<number, string>
  try {
    const rows = database
      .prepare<[], { type: string; name: string; rootpage: number }>(
        'SELECT type, name, rootpage FROM sqlite_schema WHERE rootpage > 0',
      )
      .all()
    names = new Map(rows.map(({ type, name, rootpage }) => [rootpage, `${type} ${name}`]))
  } catch {
    // The list of tables is damaged as well.
    return lines
  }
  return lines.map((line) => {
    const name = names.get(Number(/^Tree (\d+) /.exec(line)?.[1]))
    return name ? `${line} (${name})` : line
  })
}
