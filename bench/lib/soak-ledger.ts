/** Checks the stopped service's database against every effect that callers saw acknowledged. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import type { Core } from './soak-load.js'

/** @returns sentences that name missing or surplus records */
export function missingEffects(dataDir: string, { effects, live }: Core): string[] {
  const database = new Database(join(dataDir, 'countersign.db'), { readonly: true })
  try {
    const missing: string[] = []
    const integrity = database.pragma('integrity_check', { simple: true })
    if (integrity !== 'ok') missing.push(`integrity_check: ${integrity}`)
    const subjects = database
      .prepare(`SELECT count(*) FROM subject WHERE environment = 'production'`)
      .pluck()
      .get()
    if (subjects !== live.size) missing.push(`${live.size} users are enrolled; found ${subjects}`)
    const logged = new Map<string, number>()
    for (const entry of database.prepare('SELECT entry FROM audit').pluck().iterate()) {
      const { request_id, status } = JSON.parse(entry as string)
      if (status < 300) logged.set(request_id, (logged.get(request_id) ?? 0) + 1)
    }
    for (const { event, requestId } of effects)
      if (logged.get(requestId) !== 1) missing.push(`${event} ${requestId} is not in the audit log once`)
    return missing
  } finally {
    database.close()
  }
}
