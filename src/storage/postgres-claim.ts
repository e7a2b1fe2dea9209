/** The claim of a service on its database: a lock that lasts as long as the connection on which everything is written. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientBase } from 'pg'

/** "CSGS": with the table of the lane, which tells schemas apart, the name of the advisory lock. */
const LOCK = 0x43534753
/** The session of a service that has just ended may still be there. */
const PATIENCE_MS = 5000
const RETRY_MS = 200

interface Session {
  pid: number
  startedAt: string
}

export class PostgresClaim {
  /** Ours, before the connection was made anew: the server may not know that it is lost. */
  private session: Session | null = null

  /** On a connection that was just made. @throws Error that says who has it */
  readonly take = async (client: ClientBase): Promise<void> => {
    for (const untilMs = performance.now() + PATIENCE_MS; ; await sleep(RETRY_MS)) {
      const { rows } = await client.query<Session & { isTaken: boolean }>(
        `SELECT pg_try_advisory_lock(${LOCK}, 'lane'::regclass::oid::int) AS "isTaken",
           pid, backend_start::text AS "startedAt" FROM pg_stat_activity WHERE pid = pg_backend_pid()`,
      )
      const { isTaken, ...session } = rows[0]!
      if (isTaken) {
        this.session = session
        return
      }
      await this.endFormer(client)
      if (performance.now() > untilMs)
        throw new Error(
          `another Countersign serves from it${await holderOf(client)}: one service a database, for now. Stop the other one first.`,
        )
    }
  }

  /** Not while it commits: what waits for a standby would be ended, and taken for done. */
  private async endFormer(client: ClientBase): Promise<void> {
    if (this.session)
      await client.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE pid = $1 AND backend_start::text = $2 AND (state LIKE 'idle%' OR wait_event_type = 'Lock')`,
        [this.session.pid, this.session.startedAt],
      )
  }
}

/** Empty where the server does not tell. */
async function holderOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ address: string | null; since: string }>(
    `SELECT host(client_addr) AS address, to_char(backend_start, 'YYYY-MM-DD HH24:MI:SS TZ') AS since
     FROM pg_locks JOIN pg_stat_activity USING (pid)
     WHERE locktype = 'advisory' AND classid::int = ${LOCK} AND objid = 'lane'::regclass::oid
       AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  const holder = rows[0]
  return holder ? ` (from ${holder.address ?? 'this machine'}, connected at ${holder.since})` : ''
}
