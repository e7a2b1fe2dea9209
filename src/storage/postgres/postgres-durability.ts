/** Asks a PostgreSQL server whether it waits for its disk, which no session can enforce. */
import { accessOf, opening, type PostgresOptions, withClient } from './postgres-store.js'

/** @throws ConfigError; StoreOpenError when the server cannot be used or reached */
export async function waitsForDisk(url: string, options: PostgresOptions = {}): Promise<boolean> {
  const access = accessOf(url, options)
  return opening(access.target, async () => {
    const { rows } = await withClient(access, (client) =>
      client.query<{ waits: boolean }>(
        `SELECT current_setting('fsync')::boolean AND current_setting('full_page_writes')::boolean AS waits`,
      ),
    )
    return rows[0]!.waits
  })
}
