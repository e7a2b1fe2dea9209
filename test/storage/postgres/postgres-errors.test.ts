import { connect, createServer, type Server, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { PostgresPool } from '../../../src/features/postgres/store/postgres-pool.js'
import { TIMEOUTS } from '../../../src/features/postgres/store/postgres-session.js'
import { openPostgresStore } from '../../../src/features/postgres/store/postgres-store.js'
import { toDomainError } from '../../../src/http/to-domain-error.js'
import { accessTo, overPostgres, testDatabase } from '../../support/postgres.js'

/** Errors that pass without a change of this program, by SQLSTATE. */
const PASSING =
  '08006 0A000 25001 25006 25P01 25P02 25P03 26000 28P01 2D000 34000 3B001 3D000 40001 40003 40P01 42501 42P05 ' +
  '53100 53200 53300 55000 55006 55P03 57014 57P01 57P03 58030 F0000 XX000 XX001 XX002'
/** Errors that the statement causes each time. */
const LASTING = '21000 22012 22P02 23502 23503 23505 23514 42601 42703 42P01 P0001'

const ABORTED = 'BEGIN; SELECT 1 / 0'

/** Sends statements of its own over the connections of a store. */
class Intruder {
  private readonly links = new Set<{ far: Socket; heard: ((answer: Buffer) => void) | null }>()

  private constructor(private readonly server: Server) {}

  static async listen(port: number): Promise<Intruder> {
    const server = createServer()
    const intruder = new Intruder(server)
    server.on('connection', (near) => {
      const far = connect(port, '127.0.0.1')
      const link = { far, heard: null as ((answer: Buffer) => void) | null }
      intruder.links.add(link)
      const close = () => {
        near.destroy()
        far.destroy()
        intruder.links.delete(link)
      }
      for (const socket of [near, far]) socket.on('error', close).on('close', close)
      near.on('data', (data) => far.write(data))
      far.on('data', (data) => (link.heard ? link.heard(data) : near.write(data)))
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return intruder
  }

  get port(): number {
    return (this.server.address() as { port: number }).port
  }

  /** Leaves every connection of the store in a transaction that has failed. The store gets none of the answers. */
  async abortTransactions(): Promise<void> {
    await Promise.all(
      [...this.links].map(
        (link) =>
          new Promise<void>((resolve) => {
            link.heard = (answer) => {
              // ReadyForQuery in a failed transaction (PostgreSQL manual, 55.7).
              if (!answer.toString('latin1').endsWith('Z\0\0\0\x05E')) return
              link.heard = null
              resolve()
            }
            link.far.write(simpleQuery(ABORTED))
          }),
      ),
    )
  }

  close(): void {
    for (const { far } of this.links) far.destroy()
    this.server.close()
  }
}

/** Message `Query` of PostgreSQL's protocol. */
function simpleQuery(sql: string): Buffer {
  const message = Buffer.from(`Q....${sql}\0`)
  message.writeInt32BE(message.length - 1, 1)
  return message
}

overPostgres(() => {
  const database = testDatabase()
  const poolOf = (size: number) => {
    const pool = new PostgresPool(accessTo(database), { size, timeouts: TIMEOUTS })
    database.closing({ close: () => pool.end() })
    return pool
  }

  it('answers 503 for every error that the statement itself has not caused, and 500 for the others', async () => {
    const pool = poolOf(1)
    const codeOf = (sqlState: string) =>
      pool.query({ text: `DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '${sqlState}'; END $$` }).then(
        () => 'no error',
        (error: unknown) => toDomainError(error).code,
      )
    for (const sqlState of PASSING.split(' '))
      expect([sqlState, await codeOf(sqlState)]).toEqual([sqlState, 'store_unavailable'])
    for (const sqlState of LASTING.split(' '))
      expect([sqlState, await codeOf(sqlState)]).toEqual([sqlState, 'internal_error'])
  })

  it('does not send another statement over a connection whose transaction was left open and has failed', async () => {
    const pool = poolOf(1)
    const pid = async () => (await pool.query({ text: 'SELECT pg_backend_pid() AS pid' })).rows[0].pid
    const before = await pid()
    await pool.query({ text: 'BEGIN' })
    await expect(pool.query({ text: 'SELECT 1 / 0' })).rejects.toMatchObject({ code: '22012' })
    expect(await pid()).not.toBe(before)
  })

  it('reads, writes and claims over new connections when all are in failed transactions', async () => {
    const url = new URL(database.url)
    const intruder = database.closing(await Intruder.listen(Number(url.port)))
    url.port = `${intruder.port}`
    const store = database.closing(await openPostgresStore(url.href, { serving: true }))
    const use = async () => {
      const scope = { tenantId: 'ten_a', serializationKey: 'ada' }
      const claiming = store.coordinator!.claim(Buffer.from('scope'), Buffer.from('payload'))
      await store.read.tenantById('ten_a')
      await store.transaction(scope, (tx) => tx.tenantById('ten_a'))
      const claim = await claiming
      if (!('release' in claim)) throw new TypeError('another call has the claim')
      claim.release()
    }
    await use()
    // The release is under way; the answers of the intruder must not be mixed with its answer.
    await expect.poll(() => database.query(`SELECT 1 FROM claim WHERE scope = 'scope'`)).toHaveLength(0)
    await intruder.abortTransactions()
    await use()
  })
})
