/**
 * Recognizes a primary that a failover left behind. PostgreSQL increases the timeline with every promotion, so a primary whose timeline is
 * lower than one that was seen before is the old one: writes to it are lost or contradict the new one.
 */

import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { ClientBase } from 'pg'
import { docPath } from '../../../lib/doc-path.js'
import { makeFolder, replaceDurably } from '../../../lib/durable-file.js'

/** The timeline of a primary. A standby has none, nor has a server that does not report it, as some managed ones. */
export interface PrimaryTimeline {
  /** Identifier of the cluster of databases, which only a primary and its standbys share. */
  system: string
  timeline: number
}

/**
 * The name of the current WAL file begins with the timeline. `pg_control_checkpoint()` returns the old one until the first checkpoint after
 * a promotion. Every role may call both functions, unless somebody revoked that.
 */
const TIMELINE = `SELECT system_identifier::text AS system,
  CASE WHEN pg_is_in_recovery() THEN NULL
    ELSE ('x' || substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8))::bit(32)::bigint::int END AS timeline
  FROM pg_control_system()`

/** @throws Error of pg for a connection that is lost */
export async function timelineOf(client: Pick<ClientBase, 'query'>): Promise<PrimaryTimeline | null> {
  try {
    const { rows } = await client.query<{ system: string; timeline: number | null }>(TIMELINE)
    const { system, timeline } = rows[0]!
    return timeline === null ? null : { system, timeline: Number(timeline) }
  } catch (error) {
    // Without an SQLSTATE the failure is one of the connection.
    if ((error as { code?: string }).code === undefined) throw error
    return null
  }
}

/** A primary that a failover left behind. */
export class OlderPrimaryError extends Error {}

export interface TimelineMemory {
  /** File that keeps the highest timelines between two starts; missing before the first start. */
  file: string
  /** False for a command: only the service writes its folder. */
  isWriting: boolean
}

/** The highest timeline that was seen of each cluster, by this process and, when there is a file, by earlier ones. */
export class Timelines {
  private readonly highest: Map<string, number>

  constructor(private readonly memory: TimelineMemory | null) {
    this.highest = memory ? read(memory.file) : new Map()
  }

  /** @throws OlderPrimaryError for a timeline that is lower than one that was seen */
  admit({ system, timeline }: PrimaryTimeline): void {
    const highest = this.highest.get(system) ?? 0
    if (timeline < highest)
      throw new OlderPrimaryError(
        `it is an older primary, which a failover left behind: its timeline is ${timeline}, and ${highest} was seen. Fence it off, see ${docPath('postgresql.md#fence-the-old-primary')}${this.wayBack}.`,
      )
    if (timeline === highest) return
    this.highest.set(system, timeline)
    this.keep()
  }

  private get wayBack(): string {
    return this.memory
      ? `; only where the newer one was given up on purpose, delete ${this.memory.file} and start again`
      : ''
  }

  /** Writes the file. When it cannot be written, the timelines are known only until the process ends. */
  private keep(): void {
    if (!this.memory?.isWriting) return
    try {
      makeFolder(dirname(this.memory.file))
      replaceDurably(this.memory.file, `${JSON.stringify(Object.fromEntries(this.highest))}\n`)
    } catch {
      // The folder cannot be written, as in a container without a volume.
    }
  }
}

function read(file: string): Map<string, number> {
  try {
    const kept = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>)
    return new Map(kept.filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1])))
  } catch {
    return new Map()
  }
}
