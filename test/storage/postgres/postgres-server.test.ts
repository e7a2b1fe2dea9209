/** Tests of the PostgreSQL on which tests run: its authentication, its separate databases, and that it leaves nothing behind. */
import { existsSync } from 'node:fs'
import pg from 'pg'
import { expect, it } from 'vitest'
import { createDatabase, overPostgres } from '../../support/postgres.js'
import { PostgresServer } from '../../support/postgres-server.js'

/** A server start takes a second of a core, for which a busy machine may need long. */
const PATIENT = { timeout: 120_000 }

overPostgres(() => {
  it('gives every test an empty database of its own, in a supported version', PATIENT, async () => {
    const [one, two] = [await createDatabase(), await createDatabase()]
    await one.query('CREATE TABLE made (x int)')
    const tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    expect(await one.query(tables)).toEqual([{ tablename: 'made' }])
    expect(await two.query(tables)).toEqual([])
    const [{ server_version_num: version }] = (await one.query('SHOW server_version_num')) as [
      { server_version_num: string },
    ]
    expect(Number(version)).toBeGreaterThanOrEqual(150_000)
    for (const database of [one, two]) await database.drop()
    await expect(one.query('SELECT 1')).rejects.toThrow('does not exist')
  })

  it(
    'starts with other settings, also on a socket, asks for the password over TCP, and leaves nothing behind',
    PATIENT,
    async () => {
      const server = await PostgresServer.start({ max_connections: '7' })
      try {
        const client = new pg.Client({
          host: server.socketFolder,
          port: Number(new URL(server.url).port),
          user: 'postgres',
        })
        await client.connect()
        expect((await client.query('SHOW max_connections')).rows).toEqual([{ max_connections: '7' }])
        await client.end()
        const stranger = new pg.Client(server.url.replace(/:[0-9a-f]+@/, ':wrong@'))
        await expect(stranger.connect()).rejects.toThrow('password authentication failed')
      } finally {
        await server.stop()
      }
      expect(existsSync(server.socketFolder)).toBe(false)
      await expect(new pg.Client(server.url).connect()).rejects.toThrow('ECONNREFUSED')
    },
  )
})
