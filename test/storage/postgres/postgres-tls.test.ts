/** Tests of TLS against a server of its own: which servers a store trusts, and how it authenticates itself. */
import { chmodSync, chownSync, copyFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { databaseOf } from '../../../src/app/database.js'
import {
  openPostgresStore,
  type PostgresOptions,
} from '../../../src/features/postgres/store/postgres-store.js'
import { StoreOpenError, StoreUnavailableError } from '../../../src/storage/store.js'
import { CertificateMaker } from '../../support/certificates.js'
import { overPostgres } from '../../support/postgres.js'
import { PostgresServer } from '../../support/postgres-server.js'
import { tenant } from '../../support/records.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const LIMIT_MS = 120_000

overPostgres(() => {
  const folder = temporaryFolder()
  const made = new CertificateMaker(folder)
  const opened: Array<{ close(): Promise<void> }> = []
  let server: PostgresServer

  beforeAll(async () => {
    for (const name of ['ours', 'theirs']) made.authority(name)
    made.issue('right', 'ours', { names: 'IP:127.0.0.1,DNS:localhost' })
    made.issue('elsewhere', 'ours', { names: 'IP:127.0.0.2,DNS:db.example.com' })
    made.issue('expired', 'ours', { names: 'IP:127.0.0.1,DNS:localhost', days: -1 })
    made.issue('moved', 'theirs', { names: 'IP:127.0.0.1' })
    made.issue('client', 'ours', { subject: 'postgres' })
    made.issue('stranger', 'theirs', { subject: 'postgres' })
    server = await PostgresServer.start()
  }, LIMIT_MS)
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close()
  })
  afterAll(() => server?.stop())

  /** Runs statements over the socket, which needs no authentication. */
  const administer = async (...statements: string[]) => {
    const at = { host: server.socketFolder, port: Number(new URL(server.url).port), user: 'postgres' }
    const client = new pg.Client({ ...at, database: 'postgres' })
    await client.connect()
    try {
      let rows: unknown[] = []
      for (const statement of statements) rows = (await client.query(statement)).rows
      return rows
    } finally {
      await client.end()
    }
  }
  /** Makes a file readable for the server and nobody else. */
  const give = (file: string) => {
    const path = join(server.socketFolder, file)
    copyFileSync(made.at(file), path)
    const { uid, gid } = statSync(server.socketFolder)
    chownSync(path, uid, gid)
    chmodSync(path, 0o600)
    return path
  }
  const serveTls = async (name: string) => {
    const settings = {
      ssl_cert_file: give(`${name}.pem`),
      ssl_key_file: give(`${name}.key`),
      ssl_ca_file: give('ours.pem'),
      ssl: 'on',
    }
    const changes = Object.entries(settings).map(([key, value]) => `ALTER SYSTEM SET ${key} = '${value}'`)
    await administer(...changes, 'SELECT pg_reload_conf()')
    await expect
      .poll(() =>
        administer("SELECT current_setting('ssl') AS ssl, current_setting('ssl_cert_file') AS cert"),
      )
      .toEqual([{ ssl: 'on', cert: settings.ssl_cert_file }])
  }
  const open = async (query: string, options?: PostgresOptions, url = server.url) => {
    const store = await openPostgresStore(`${url}/postgres?${query}`, options)
    opened.push(store)
    return store
  }
  const refusal = async (query: string) => {
    const database = `${server.url}/postgres?${query}`
    const error = await databaseOf({ database, databasePasswordFile: undefined })
      .open({})
      .then(
        (store) => void opened.push(store),
        (reason: unknown) => reason,
      )
    expect(error).toBeInstanceOf(StoreOpenError)
    return (error as Error).message
  }
  const fully = (authority = 'ours') => `sslmode=verify-full&sslrootcert=${made.at(`${authority}.pem`)}`
  const disconnect = () =>
    administer(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'countersign'",
    )
  const encrypted = () =>
    administer(
      `SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'countersign'`,
    )

  it('refuses a server without TLS in every mode but sslmode=disable', async () => {
    for (const query of [fully(), 'sslmode=verify-ca', 'sslmode=require'])
      expect(await refusal(query)).toMatch(
        /on 127\.0\.0\.1:\d+: The server does not support SSL connections\. Turn TLS on at the server/,
      )
    await open('sslmode=disable')
    expect(await encrypted()).toEqual([{ ssl: false }])
  })

  it('verifies authority and name of a server, and encrypts every connection', async () => {
    await serveTls('right')
    for (const url of [server.url, server.url.replace('127.0.0.1', 'localhost')]) {
      const store = await open(fully(), {}, url)
      await store.read.tenants()
    }
    expect(await encrypted()).toEqual([{ ssl: true }])
  })

  it('refuses a server of an unknown authority, unless the mode does not verify it', async () => {
    await serveTls('right')
    for (const query of [fully('theirs'), fully('theirs').replace('full', 'ca'), 'sslmode=verify-full'])
      expect(await refusal(query)).toMatch(/certificate/)
    expect(await refusal(fully('theirs'))).toContain(
      `${made.at('theirs.pem')} (sslrootcert) does not hold the authority of the server's certificate.`,
    )
    expect(await refusal('sslmode=verify-full')).toMatch(/sslrootcert=<file> in COUNTERSIGN_DATABASE names/)
    // A mode without verification verifies the certificate when an authority is named.
    expect(await refusal(`sslmode=require&sslrootcert=${made.at('theirs.pem')}`)).toMatch(/certificate/)
    await open('sslmode=require')
    expect(await encrypted()).toEqual([{ ssl: true }])
  })

  it('refuses a server with another name when the mode verifies names', async () => {
    await serveTls('elsewhere')
    expect(await refusal(fully())).toMatch(
      /does not match certificate's altnames.*Write the host .* as the certificate names it/,
    )
    await open(fully().replace('full', 'ca'))
    await open('sslmode=require')
  })

  it('refuses a server whose certificate has expired', async () => {
    await serveTls('expired')
    for (const query of [fully(), fully().replace('full', 'ca')])
      expect(await refusal(query)).toMatch(/certificate has expired/)
  })

  it('shows a client certificate when the server asks for one', async () => {
    await serveTls('right')
    const rules = join(server.socketFolder, 'data', 'pg_hba.conf')
    writeFileSync(rules, 'local all all trust\nhostssl all all 127.0.0.1/32 cert\n')
    await administer('SELECT pg_reload_conf()')
    const own = (name: string) =>
      `${fully()}&sslcert=${made.at(`${name}.pem`)}&sslkey=${made.at(`${name}.key`)}`
    await expect.poll(() => refusal(fully())).toMatch(/requires a valid client certificate/)
    expect(await refusal(own('stranger'))).toMatch(/alert|certificate/)
    await open(own('client'))
    expect(await encrypted()).toEqual([{ ssl: true }])
    writeFileSync(rules, 'local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n')
    await administer('SELECT pg_reload_conf()')
    await expect.poll(() => open(fully()).then(() => 'opened', String)).toBe('opened')
  })

  it('uses an authority that was replaced for the next connection', async () => {
    await serveTls('right')
    copyFileSync(made.at('ours.pem'), made.at('present.pem'))
    const store = await open(fully('present'))
    await serveTls('moved')
    await disconnect()
    await expect(store.read.tenants()).rejects.toBeInstanceOf(StoreUnavailableError)
    copyFileSync(made.at('theirs.pem'), made.at('present.pem'))
    await store.read.tenants()
    // There is no file to read, so the last certificates stay in use.
    rmSync(made.at('present.pem'))
    await disconnect()
    await store.read.tenants()
  })

  it('uses a password that was replaced for the next connection', async () => {
    await serveTls('right')
    const [, old = ''] = /:([^:@/]*)@/.exec(server.url)!
    const file = join(folder, 'password')
    writeFileSync(file, old)
    const url = server.url.replace(`:${old}@`, '@')
    const store = await open(fully(), { passwordFile: file, serving: true }, url)
    await store.transaction('installation', (tx) => tx.insertTenant(tenant('before')))
    await administer("ALTER ROLE postgres PASSWORD 'another'")
    writeFileSync(file, 'another\n')
    await disconnect()
    await store.transaction('installation', (tx) => tx.insertTenant(tenant('after')))
    expect((await store.read.tenants()).map(({ name }) => name)).toEqual(['after', 'before'])
    await administer(`ALTER ROLE postgres PASSWORD '${old}'`)
  })
})
