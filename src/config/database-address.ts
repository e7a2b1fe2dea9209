/** True for the address of a PostgreSQL database, which several services may share; false for a SQLite file. */
export function isPostgres({ database }: { database: string }): boolean {
  return /^postgres(?:ql)?:/.test(database)
}
