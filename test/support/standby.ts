/** A hot standby of a test's own PostgreSQL, which receives what the primary writes and can be promoted. */
import { cpSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import pg from 'pg'
import { PostgresServer } from './postgres-server.js'

/** @param folder for the copy that it begins with */
export async function startStandby(primary: PostgresServer, folder: string): Promise<PostgresServer> {
  const copy = join(folder, 'base')
  const client = new pg.Client(`${primary.url}/postgres`)
  await client.connect()
  await client.query("SELECT pg_backup_start('standby', fast => true)")
  cpSync(primary.dataFolder, copy, {
    recursive: true,
    filter: (path) => !/^postmaster\.(?:pid|opts)$/.test(basename(path)),
  })
  const { rows } = await client.query('SELECT labelfile FROM pg_backup_stop()')
  await client.end()
  writeFileSync(join(copy, 'backup_label'), rows[0].labelfile)
  writeFileSync(join(copy, 'standby.signal'), '')
  const { hostname, port, username, password } = new URL(primary.url)
  return PostgresServer.start(
    { primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}` },
    { folder: copy, of: primary },
  )
}
