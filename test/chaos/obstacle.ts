/** What a machine lacks for a campaign. */
import { findPostgres } from '../support/postgres-server.js'

/** Null where nothing is missing. */
export function obstacle(): string | null {
  // Processes and their children are found and stopped by /proc.
  if (process.platform !== 'linux') return 'it needs Linux'
  return findPostgres() ? null : 'this machine has no PostgreSQL'
}
