/** Versions of the service side by side on one database, as processes: the built one, and copies of it that change the schema. */
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SCHEMA } from '../../src/features/postgres/store/postgres-migrations.js'
import { apiClient } from '../support/client.js'
import { type ServerProcess, until, type Workplace, workplace } from '../support/command.js'
import { base64, face } from '../support/faces.js'
import { copyPackage, type PackageCopy } from '../support/package-copy.js'
import { createDatabase, overPostgres, type TestDatabase } from '../support/postgres.js'

/** Adds to what is read and written at every call. */
const EXPAND = `
  ALTER TABLE tenant ADD COLUMN motto text COLLATE "C";
  ALTER TABLE lane ADD COLUMN turns bigint NOT NULL DEFAULT 0;
  CREATE TABLE motto (tenant_id text COLLATE "C" PRIMARY KEY REFERENCES tenant (id), text text NOT NULL);
`
/** Names that the version before does not use. */
const CONTRACT = 'ALTER TABLE tenant DROP COLUMN motto; DROP TABLE motto'

overPostgres(() => {
  let database: TestDatabase
  let copy: PackageCopy
  let image: string
  let key: string
  const places: Workplace[] = []

  const open = async (main?: string) => {
    const place = await workplace(env, main)
    places.push(place)
    return place
  }
  let env: Record<string, string>
  let present: Workplace
  let later: Workplace

  beforeAll(async () => {
    database = await createDatabase()
    copy = await copyPackage()
    image = base64(await face('ada'))
    env = {
      COUNTERSIGN_DATABASE: database.url,
      COUNTERSIGN_MASTER_KEY: randomBytes(32).toString('base64'),
      COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
      COUNTERSIGN_REPLAY_POLICY: 'report',
    }
    present = await open()
    later = await open(copy.main)
    key = (await present.run(['tenant', 'create', 'acme', '--json'])).json.sandbox_key
  })
  afterAll(async () => {
    for (const place of places) await place.dispose()
    await copy?.dispose()
    await database?.drop()
  })

  const compiled = () =>
    join(copy.main, '..', '..', 'features', 'postgres', 'store', 'postgres-migrations.js')
  let original: string | null = null
  /** The next version's code, which the copy is from now on. */
  const release = (steps: string[], compatibleFrom: number) => {
    original ??= readFileSync(compiled(), 'utf8')
    const added = steps.map((sql, i) => ({ to: SCHEMA + 1 + i, sql }))
    const count = `export const SCHEMA = ${SCHEMA};`
    const none = 'const STEPS = [];'
    const from = /const COMPATIBLE_FROM = \d+;/
    expect(original).toContain(count)
    expect(original).toContain(none)
    expect(original).toMatch(from)
    writeFileSync(
      compiled(),
      original
        .replace(none, `const STEPS = ${JSON.stringify(added)};`)
        .replace('const RELEASED = [];', `const RELEASED = [${SCHEMA}, ${SCHEMA + 1}];`)
        .replace(count, `export const SCHEMA = ${SCHEMA + added.length};`)
        .replace(from, `const COMPATIBLE_FROM = ${compatibleFrom};`),
    )
  }
  const schema = async () => Number((await database.query('SELECT version FROM schema_version'))[0]!.version)

  /** Callers that enrol and verify without a break. */
  function callers({ sandbox }: ServerProcess) {
    const client = apiClient(`${sandbox}/v1`, key)
    const answers = { good: 0, other: [] as unknown[] }
    let isOver = false
    let users = 0
    const run = async (name: string) => {
      while (!isOver) {
        const user_id = `${name}-${++users}+match`
        for (const [wanted, call] of [
          [201, () => client.enroll({ user_id, image })],
          [200, () => client.verify({ user_id, image, action: 'x' })],
        ] as const) {
          const { status, body } = await call()
          if (status === wanted) answers.good++
          else answers.other.push(body)
        }
      }
    }
    const name = randomBytes(4).toString('hex')
    const running = Promise.all(['a', 'b'].map((one) => run(`${name}${one}`)))
    return {
      answers,
      /** Some more answers than there are now. */
      async goOn() {
        const { good } = answers
        await until(() => answers.good >= good + 20)
      },
      async end() {
        isOver = true
        await running
        return answers
      },
    }
  }
  const stop = async (server: ServerProcess) => {
    server.signal('SIGTERM')
    expect((await server.exited).code).toBe(0)
  }

  it('a migration that adds is left to services; it runs under the traffic of the version before, which goes on and can restart', async () => {
    const old = await present.serve()
    const before = callers(old)
    await before.goOn()
    release([EXPAND], 1)
    expect((await later.spawn(['tenant', 'list', '--json'])).error).toMatchObject({
      code: 'schema_outdated',
      message: expect.stringContaining(
        `has schema ${SCHEMA}, made by an earlier Countersign; the schema of this one is ${SCHEMA + 1}.`,
      ),
    })
    expect(await schema()).toBe(SCHEMA)
    const next = await later.serve()
    expect(await schema()).toBe(SCHEMA + 1)
    const after = callers(next)
    await Promise.all([before.goOn(), after.goOn()])
    expect(await before.end()).toMatchObject({ other: [] })
    expect((await fetch(`${old.admin}/readyz`)).status).toBe(200)
    await stop(old)
    // The way back.
    const again = await present.serve()
    const back = callers(again)
    await Promise.all([back.goOn(), after.goOn()])
    for (const one of [back, after]) expect(await one.end()).toMatchObject({ other: [] })
    expect((await present.run(['audit', 'verify'])).code).toBe(0)
    expect(await schema()).toBe(SCHEMA + 1)
    await Promise.all([stop(again), stop(next)])
  })

  it('a migration that removes waits for services that are too old, and for no others', async () => {
    const old = await present.serve()
    release([EXPAND], 1)
    const next = await later.serve()
    const ofOld = callers(old)
    const ofNext = callers(next)
    release([EXPAND, CONTRACT], SCHEMA + 1)
    const last = await open(copy.main)
    const refused = await last.spawn(['migrate'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(
      `services of a version that cannot work with the new schema are running: ${hostname()}/${old.pid}. Stop them first`,
    )
    expect(await schema()).toBe(SCHEMA + 1)
    await Promise.all([ofOld.goOn(), ofNext.goOn()])
    expect(await ofOld.end()).toMatchObject({ other: [] })
    await stop(old)
    const newest = await last.serve()
    expect(await schema()).toBe(SCHEMA + 2)
    await ofNext.goOn()
    expect(await ofNext.end()).toMatchObject({ other: [] })
    const late = await present.spawn(['serve'])
    expect([late.code, late.stderr]).toEqual([
      1,
      expect.stringContaining(`it has schema ${SCHEMA + 2}, made by a newer Countersign`),
    ])
    await Promise.all([stop(next), stop(newest)])
  })

  it('a service that stood still during an incompatible migration answers 503, writes nothing and logs why', async () => {
    await database.query('UPDATE lane SET compatible_from = 1')
    const old = await present.serve()
    const client = apiClient(`${old.sandbox}/v1`, key)
    const entries = () => database.query('SELECT count(*) FROM audit')
    const before = await entries()
    // The state that a service finds whose lease ended meanwhile.
    await database.query(`UPDATE lane SET compatible_from = ${SCHEMA + 1}`)
    const { status, body } = await client.enroll({ user_id: 'late+match', image })
    expect([status, body.code]).toEqual([503, 'store_unavailable'])
    await until(async () => (await fetch(`${old.admin}/readyz`)).status === 503)
    await old.logged('the schema was changed by a newer version, with which this one cannot work: stop it')
    expect((await client.health()).status).toBe(503)
    expect(await entries()).toEqual(before)
    await stop(old)
  })
})
