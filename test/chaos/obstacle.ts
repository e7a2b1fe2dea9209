/** Whether this machine can run a campaign. */
import { findPostgres } from '../support/postgres-server.js'

/** Names what is missing; null when nothing is. */
export function obstacle(): string | null {
  // Processes and their children are found and stopped through /proc.
  if (process.platform !== 'linux') return 'it needs Linux'
  return findPostgres() ? null : 'this machine has no PostgreSQL'
}
