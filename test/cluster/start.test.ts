/** `countersign serve` that is started before its database can be reached waits for it, and serves without being started again. */
import { randomBytes } from 'node:crypto'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { TcpProxy } from '../chaos/tcp-proxy.js'
import { until, type Workplace, workplace } from '../support/command.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'

const WAITING = '"msg":"waiting for the database before serving"'
const REACHED = '"msg":"the database can be reached now"'

overPostgres(() => {
  let database: TestDatabase
  let proxy: TcpProxy
  let home: Workplace
  let url: string
  beforeEach(async () => {
    database = await createDatabase()
    ;({ proxy, url } = await TcpProxy.before(database.url))
    home = await workplace({
      COUNTERSIGN_DATABASE: url,
      COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
    })
  })
  afterEach(async () => {
    await home?.dispose()
    await proxy?.close()
    await database?.drop()
  })

  it('a start waits until the database accepts connections, logs so once, and then serves', async () => {
    proxy.refuse()
    const server = home.begin(['serve'])
    await until(() => server.stdout().includes(WAITING))
    proxy.heal()
    await until(async () => /"is_serving": ?true/.test((await home.run(['nodes', '--json'])).stdout))
    expect(server.stdout().split(WAITING)).toHaveLength(2)
    expect(server.stdout()).toContain(REACHED)
    server.signal('SIGTERM')
    expect(await server.exited).toEqual({ code: 0, signal: null })
  })

  for (const processes of ['1', '2'])
    it(`exits 0 on SIGTERM while ${processes === '1' ? 'the service waits' : 'its processes wait'} for the database`, async () => {
      proxy.refuse()
      const server = home.begin(['serve'], { COUNTERSIGN_PROCESSES: processes })
      await until(() => server.stdout().includes(WAITING))
      server.signal('SIGTERM')
      expect(await server.exited).toEqual({ code: 0, signal: null })
    })

  it('a start fails at once where waiting would not help, as with a database that does not exist', async () => {
    const elsewhere = new URL(url)
    elsewhere.pathname = '/nowhere'
    const { code, stdout, stderr } = await home.spawn(['serve'], { COUNTERSIGN_DATABASE: elsewhere.href })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('database "nowhere" does not exist')
  })
})
