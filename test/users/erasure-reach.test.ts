/**
 * Tests how far an erasure reaches: what every table names of a user before it, after it, and in a copy that was made before it. Each cell is
 * read as it is and decrypted under every key that a holder of the database and the master key can have.
 */

import { createDecipheriv, createHmac } from 'node:crypto'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { joinKeys, makeBackup } from '../../src/cli/backup/sqlite-backup.js'
import { sqliteFile } from '../../src/config/config.js'
import { dataKeyWrapping } from '../../src/crypto/epoch-key.js'
import { openedBy } from '../../src/crypto/sealed-box.js'
import { tablesOf } from '../../src/features/index.js'
import { agedReferenceWriter } from '../../src/features/learning-references/aged-references.js'
import { approvalWriter } from '../../src/features/policies/approval-table.js'
import { retentionWriter } from '../../src/features/policies/retention-statements.js'
import { tablesWith } from '../../src/storage/endings.js'
import type { Subject } from '../../src/users/template-vault.js'
import { dataKeyOf } from '../../src/users/user-keys.js'
import { ACTION, allowReturn, askForSession, RETURN_ORIGIN, Visitor } from '../support/capture-page.js'
import type { ApiClient } from '../support/client.js'
import { DESCRIPTIONS, exampleBody, examplePath } from '../support/descriptions.js'
import { base64, face } from '../support/faces.js'
import { Keycloak } from '../support/keycloak.js'
import { OpenIdApplication, openIdClients } from '../support/openid-application.js'
import { confirmAt, OpenIdBrowser } from '../support/openid-browser.js'
import { registered, usePasskeys } from '../support/passkeys.js'
import { isOnPostgres, TABLES_OF_POSTGRES } from '../support/postgres.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { webhooksOf } from '../support/webhooks.js'

/** The user in each environment. */
const PERSON = { production: 'ada.lovelace@bank.example', sandbox: 'grace.hopper@bank.example+match' }

/** Text about the person that a caller puts into the fields that take free text. */
const WORDS = 'born on 10 December 1815'

/**
 * A table shows of a user: the `id`, the `index` by which the database finds the user, the row's `key` (its internal id), the `name` in
 * the audit log, the id of a capture `session`, free `words` about the person, and a `secret` that opens something: a link, a code, a
 * token, the data key.
 */
type Shown = string
interface Reach {
  /** Before the erasure, to a holder of every key. */
  before: Shown
  /** After the erasure, in the database. */
  after: Shown
  /** In a copy from before the erasure, with the users' keys of the next backup. */
  copy: Shown
  /** The same in an archive of PostgreSQL. Default: as in a copy. */
  archive?: Shown
}

const NOTHING: Reach = { before: '', after: '', copy: '' }

/** Every table. A new one fails until it is here: to whom do its rows belong, and what does an erasure do to them? */
const TABLES: Record<string, Reach> = {
  // An archive of PostgreSQL has the wrapped key until its epoch ends.
  subject: { before: 'index key secret', after: '', copy: 'index key', archive: 'index key secret' },
  reference: { before: 'key', after: '', copy: 'key' },
  following_reference: { before: 'key', after: '', copy: 'key' },
  aged_reference: { before: 'key', after: '', copy: 'key' },
  passkey: { before: 'key', after: '', copy: 'key' },
  capture: { before: 'key', after: '', copy: 'key' },
  sandbox_user: { before: 'index', after: '', copy: 'index' },
  sandbox_verification: { before: 'index', after: '', copy: 'index' },
  user_activity: { before: 'id index', after: '', copy: 'index' },
  challenge: { before: 'index', after: '', copy: 'index' },
  approval: { before: 'index', after: '', copy: 'index' },
  // Only the link opens the content of a session, and the database has no link.
  capture_session: { before: 'index session', after: '', copy: 'index session' },
  // A session's own consent text, which names its user. Texts for all name nobody.
  own_consent_text: { before: 'id key words', after: '', copy: 'key' },
  // Only the caller's idempotency key opens the answer with link and code.
  idempotency: { before: 'id index key words', after: '', copy: 'index key' },
  webhook_delivery: { before: 'id index key words', after: '', copy: 'index key' },
  // Only the code, the token or the browser's cookie opens a state.
  openid_state: { before: 'index', after: '', copy: '', archive: 'index' },
  openid_callback: { before: 'id index secret words', after: '', copy: '', archive: 'index' },
  // The name of a user of production cannot be computed without the data key.
  request_log: { before: 'id index name', after: 'name', copy: 'index name', archive: 'id index name' },
  audit: { before: 'key name session', after: 'key name session', copy: 'key name session' },
  // The receipt, which is kept for a day.
  erasure: { before: '', after: 'index', copy: '' },
}

/** Tables of what belongs to the installation, to tenants, or to people of the dashboard. */
const OF_NO_USER = [
  ...['tenant', 'keyring', 'verdict_key', 'openid_key', 'openid_client', 'operator', 'person', 'api_key'],
  ...['signing_secret', 'login_link', 'second_factor', 'operator_link', 'person_link', 'dashboard_session'],
  ...[
    'model_migration',
    'capture_logo',
    'consent_text',
    'policy_version',
    'retention_start',
    'webhook_endpoint',
    'traffic',
  ],
  ...['drift', 'shadow', 'last_backup', 'audit_walk', 'audit_seal'],
]
/** A feature's table that is not named above: its rows name their user by the internal id, and go with it. */
const WITH_USER: Reach = { before: 'key', after: '', copy: 'key' }
const REACHES: Record<string, Reach> = {
  ...Object.fromEntries(
    tablesOf()
      .filter(({ declared }) => declared.atErasure === 'deleted by foreign key')
      .map(({ name }) => [name, WITH_USER]),
  ),
  ...TABLES,
  ...Object.fromEntries(
    [...OF_NO_USER, ...(isOnPostgres() ? TABLES_OF_POSTGRES : [])].map((name) => [name, NOTHING]),
  ),
}

/** The tables whose declarations say that their rows are a user's, or are sealed under a user's key. */
const DECLARED_OF_USERS = tablesWith(tablesOf()).filter(
  ({ columnOf, declared }) =>
    ['blindIndex', 'subjectId', 'referenceId'].some((field) => field in columnOf) ||
    declared.sealedUnder === 'data key',
)

it.each(DECLARED_OF_USERS)('$name, whose rows are of users, shows something of them here', ({ name }) => {
  expect(Object.values(REACHES[name] ?? {}).join('')).not.toBe('')
})

let running: TestService
let tenant: TestTenant
let keycloak: Keycloak
let production: ApiClient
let application: OpenIdApplication
let code: string | null
let token: string
/** States of the OpenID provider about the users, from before the erasure. */
let states: Array<Record<string, unknown>>
const needles: Array<[kind: string, needle: Buffer]> = []
const found: Record<'before' | 'after' | 'copy', Record<string, Shown>> = { before: {}, after: {}, copy: {} }

beforeAll(async () => {
  running = await startService({
    COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_OPENID_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_RATE_LIMIT: '1000/s',
  })
  tenant = await running.tenant()
  keycloak = await Keycloak.start(() => running.clock.now())
  await allowReturn(running, tenant)
  await usePasskeys(running, tenant)
  production = await running.production(tenant)
  await subscribe('sandbox')
  await subscribe('production')
  await live('production', production)
  await live('sandbox', tenant.sandbox)
  // The request log is written some seconds later.
  const logged = 'SELECT DISTINCT environment FROM request_log WHERE subject IS NOT NULL'
  await vi.waitFor(async () => expect(await running.database.query(logged)).toHaveLength(2), 20_000)
  found.before = shownIn(await rows(), [...serviceKeys(), ...(await dataKeys())])
  states = (await rows()).openid_state!.filter((row) => row.user_lookup !== null)
  const copied = isOnPostgres() ? await rows() : await backup('copy.db')
  for (const [client, id] of [
    [production, PERSON.production],
    [tenant.sandbox, PERSON.sandbox],
  ] as const)
    expect((await client.erase(id)).status).toBe(200)
  found.after = shownIn(await rows(), [...serviceKeys(), ...(await dataKeys())])
  if (!isOnPostgres()) await backup('later.db')
  found.copy = shownIn(copied, [...serviceKeys(), ...(await dataKeys())])
}, 180_000)
afterAll(async () => {
  await keycloak?.close()
  await running?.stop()
})

it('lists every table', () => {
  expect(Object.keys(found.before).sort()).toEqual(Object.keys(REACHES).sort())
})

const column = (moment: keyof Reach) =>
  Object.fromEntries(Object.entries(REACHES).map(([name, reach]) => [name, reach[moment] ?? reach.copy]))

describe('an erasure', () => {
  it('finds something of the user in each table that has rows of users', () => {
    expect(found.before).toEqual(column('before'))
  })

  it('leaves in no table anything of the user but what the table is listed with', () => {
    expect(found.after).toEqual(column('after'))
  })

  it('reaches a copy that was made before it', () => {
    expect(found.copy).toEqual(column(isOnPostgres() ? 'archive' : 'copy'))
  })

  const itOfFiles = isOnPostgres() ? () => {} : it
  itOfFiles('reaches a database that is restored from that copy', async () => {
    const [copy, restored] = ['copy.db', 'restored.db'].map((name) => join(running.dataDir, name))
    expect(
      await joinKeys(copy!, join(running.dataDir, 'countersign.keys'), restored!, tablesOf()),
    ).toMatchObject({
      erased: 2,
    })
    // The receipts were written after the copy.
    expect(shownIn(rowsOf(restored!), serviceKeys())).toEqual({ ...column('after'), erasure: '' })
  })

  it('ends codes and access tokens that were given before it', async () => {
    expect(await application.redeem(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await application.userinfo(token)).status).toBe(401)
  })

  it('ends a code that is written while it is being committed', async () => {
    const columns = ['lookup', 'grant_id', 'user_lookup', 'sealed', 'expires_at']
    for (const row of states)
      await running.database.query(
        `INSERT INTO openid_state (${columns.join(', ')}) VALUES ($1, $2, $3, $4, $5)`,
        columns.map((name) => row[name]),
      )
    expect(await application.redeem(code)).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect((await application.userinfo(token)).status).toBe(401)
  })
})

async function subscribe(environment: 'production' | 'sandbox'): Promise<void> {
  const { tenancy } = running.service.core
  // Nobody listens there, so that what is to be sent stays. `user.erased` names an erased user until it is taken.
  const events = ['user.enrolled', 'capture_session.completed', 'openid.link_ready'] as const
  const webhook = { url: 'http://127.0.0.1:9/', environment, events: [...events] }
  await webhooksOf(running.service).add(await tenancy.find(tenant.id), COMMAND_LINE, webhook)
}

/** Does everything with a user that leaves something in the database. */
async function live(environment: 'production' | 'sandbox', client: ApiClient): Promise<void> {
  const { core } = running.service
  const user_id = PERSON[environment]
  const image = base64(await face('ada'))
  const consent = { id: 'own', text: `${user_id}, ${WORDS}, agrees.` }
  // The text of a session of somebody who is not enrolled yet.
  const enrolling = { user_id, purpose: 'enroll', action: undefined, confirmation: 'none', consent }
  const enrollment = await askForSession(client, enrolling)
  await agreeAt(enrollment.body.url)
  const answers = [
    enrollment,
    await client.enroll({ user_id, image, consent: { id: 'v1', agreed_at: '2026-11-01T00:00:00Z' } }),
    await client.verify(
      { user_id, image, action: `pay for ${user_id}, ${WORDS}` },
      { headers: { 'X-Svc-Idempotency-Key': 'a' } },
    ),
    await client.call('POST', '/v1/challenges', {
      ...{ user_id, action: { type: 'consent', title: user_id, text: WORDS, version: '1' }, locale: 'en' },
    }),
    await client.call(
      'POST',
      '/v1/capture-sessions',
      { ...{ user_id, action: ACTION, return_url: `${RETURN_ORIGIN}/done` }, confirmation: 'code' },
      { headers: { 'X-Svc-Idempotency-Key': 'b' } },
    ),
    await askForSession(client, { user_id, consent, description: WORDS, began: { user_agent: WORDS } }),
  ]
  for (const { example, ...one } of DESCRIPTIONS)
    if (example && one.pathParameters?.user_id)
      answers.push(
        await client.call(
          one.method,
          examplePath({ ...one, example: { ...example, user_id } }),
          exampleBody({ ...one, example }),
        ),
      )
  expect(answers.map(({ status, text }) => (status < 300 ? 'done' : text))).toEqual(answers.map(() => 'done'))
  const [, , , , withCode, withText] = answers.map(({ body }) => body)
  note(
    'secret',
    linkOf(enrollment.body.url),
    linkOf(withCode.url),
    `"${withCode.confirmation_code}"`,
    linkOf(withText.url),
  )
  note('session', withCode.session_id, withText.session_id, enrollment.body.session_id)
  await agreeAt(withText.url)
  await registered(client, user_id)
  const blindIndex = core.vault.blindIndex(tenant.id, environment, user_id)
  const subject = (await core.vault.find(core.store.read, blindIndex, user_id))!
  note('id', user_id)
  note('words', WORDS)
  note('index', blindIndex, blindIndex.toString('hex'))
  note('key', subject.record.id, subject.reference!.id)
  note('name', subject.pseudonym)
  note('secret', subject.dataKey)
  await keepRareRows(environment, subject, user_id)
  await signIn(environment, user_id)
  await askByKeycloak(environment, user_id)
}

async function agreeAt(url: string): Promise<void> {
  const visitor = new Visitor(url)
  await visitor.open()
  expect((await visitor.agree()).body).toEqual({ state: 'open' })
}

/** Rows that come about only after days, by other settings, or with another face. */
async function keepRareRows(
  environment: 'production' | 'sandbox',
  subject: Subject,
  userId: string,
): Promise<void> {
  const { store, vault } = running.service.core
  const { blindIndex } = subject.record
  const reference = subject.reference!
  const content = vault.openReference(subject, reference)
  const now = running.clock.now()
  await store.transaction({ tenantId: tenant.id }, async (tx) => {
    await vault.putFollowing(tx, subject, reference.id, 'other@1', content)
    await tx.statements(agedReferenceWriter).put(vault.sealBeside(subject, reference, content), null)
    await tx.statements(approvalWriter).insert({
      ...{
        id: `ver_${environment}`,
        tenantId: tenant.id,
        environment,
        blindIndex,
        policyHash: 'a'.repeat(64),
      },
      ...{ binding: Buffer.alloc(32), createdAt: now, expiresAt: now + 60_000, usedAt: null },
    })
    const use = { blindIndex, tenantId: tenant.id, sealed: vault.sealUserId(subject, userId), usedAt: now }
    await tx.statements(retentionWriter).noteUse({ ...use, unlessSince: now })
  })
}

/** Leaves a sign-in at the person, and in the sandbox a code that nobody has redeemed and an access token. */
async function signIn(environment: 'production' | 'sandbox', userId: string): Promise<void> {
  const asking = await OpenIdApplication.register(running, tenant, { environment })
  const open = () => new OpenIdBrowser(running.service.origin('openid')!)
  await asking.push({ login_hint: userId })
  note('secret', linkOf((await open().open(await asking.ask(userId))).left!.href))
  if (environment === 'production') return
  const codes = []
  for (let i = 0; i < 2; i++) {
    const browser = open()
    const { left } = await browser.open(await asking.ask(userId))
    const application = (await browser.open(await confirmAt(left!))).left!
    codes.push(application.searchParams.get('code')!)
  }
  const tokens = (await asking.redeem(codes[0]!)).body
  note('secret', ...codes, String(tokens.access_token))
  application = asking
  code = codes[1]!
  token = String(tokens.access_token)
  expect((await application.userinfo(token)).body).toMatchObject({ sub: userId })
}

/** Leaves a request of Keycloak that waits for the person. */
async function askByKeycloak(environment: 'production' | 'sandbox', id: string): Promise<void> {
  const { tenancy } = running.service.core
  const { issuer } = keycloak
  const { record } = await openIdClients(running).add(
    await tenancy.find(tenant.id),
    COMMAND_LINE,
    environment,
    {
      ...{
        name: `keycloak-${environment}`,
        redirectUris: [],
        acr: 'urn:countersign:acr:face-active',
        jwks: null,
      },
      keycloak: { issuer, url: issuer, user: 'sub' },
    },
  )
  const path = environment === 'sandbox' ? '/sandbox' : ''
  keycloak.channel = `${running.service.origin('openid')}${path}/keycloak/${record.id}`
  const asked = await keycloak.ask({ user: { id, name: id }, message: WORDS })
  expect(asked.status).toBe(201)
  note('secret', asked.token)
}

function note(kind: string, ...values: Array<string | Buffer>): void {
  needles.push(...values.map((value): [string, Buffer] => [kind, Buffer.from(value as string)]))
}

const linkOf = (url: string) => /cap_[0-9a-f]{32}\.[\w-]{43}/.exec(url)![0]

type Tables = Record<string, Array<Record<string, unknown>>>

async function rows(): Promise<Tables> {
  const { query } = running.database
  const names = await query(
    isOnPostgres()
      ? "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'"
      : "SELECT name FROM sqlite_schema WHERE type = 'table'",
  )
  return Object.fromEntries(
    await Promise.all(names.map(async ({ name }) => [name, await query(`SELECT * FROM ${name}`)] as const)),
  )
}

/** Makes a backup as the command does, whose keys replace those of the backup before. @returns the rows of its copy */
async function backup(name: string): Promise<Tables> {
  const file = join(running.dataDir, name)
  const { config, core } = running.service
  const keysFile = join(running.dataDir, 'countersign.keys')
  await makeBackup(sqliteFile(config), { file, keysFile, tables: core.store.tables })
  return rowsOf(file)
}

function rowsOf(file: string): Tables {
  const database = new Database(file, { readonly: true })
  const names = database
    .prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .pluck()
    .all()
  const tables = names.map((table) => [table, database.prepare(`SELECT * FROM ${table}`).all()])
  database.close()
  return Object.fromEntries(tables) as Tables
}

function serviceKeys(): Buffer[] {
  const { wrapping, secrets, idempotency, lookup, instance, audit } = running.service.core.keys
  return [wrapping, secrets, idempotency]
    .flatMap(({ current, others }) => [current, ...others])
    .concat(lookup, instance, audit)
}

/** The data keys of the users whom the database has. */
async function dataKeys(): Promise<Buffer[]> {
  const { keys } = running.service.core
  const subjects = (await running.database.query('SELECT id, wrapped_key FROM subject')) as Array<{
    id: string
    wrapped_key: Buffer
  }>
  return subjects.map(({ id, wrapped_key: sealed }) =>
    dataKeyOf(openedBy(dataKeyWrapping(keys), { id, sealed })!),
  )
}

function shownIn(tables: Tables, keys: Buffer[]): Record<string, Shown> {
  return Object.fromEntries(
    Object.entries(tables).map(([name, all]) => {
      const contents = all.flatMap((row) => Object.values(row)).flatMap((cell) => contentsOf(cell, keys))
      const kinds = needles.filter(([, needle]) => contents.some((content) => content.includes(needle)))
      return [name, [...new Set(kinds.map(([kind]) => kind))].sort().join(' ')]
    }),
  )
}

/** A cell as it is, and under each key: a box's stream cipher needs neither its context nor its tag to be read. */
function contentsOf(cell: unknown, keys: Buffer[]): Buffer[] {
  const bytes = Buffer.isBuffer(cell) ? cell : Buffer.from(`${cell ?? ''}`)
  // The sandbox's ids in the request log are boxes in base64.
  const box = Buffer.isBuffer(cell) ? cell : Buffer.from(bytes.toString(), 'base64')
  const opened = keys.map((key) => decrypted(key, box))
  // A box in a box under one of the same keys would be none to their holder.
  const within = opened.flatMap((inner) => keys.map((key) => decrypted(key, inner)))
  return [bytes, ...opened, ...within].flatMap((content) => [
    content,
    ...[...content.toString('latin1').matchAll(/\beyJ[\w-]+\.([\w-]+)/g)].map(([, claims]) =>
      Buffer.from(claims!, 'base64url'),
    ),
  ])
}

function decrypted(key: Buffer, box: Buffer): Buffer {
  // Version 1 is encrypted by the key itself, version 2 by one that is derived from it and a salt.
  const nonceAt = box[0] === 1 ? 1 : 17
  if ((box[0] !== 1 && box[0] !== 2) || box.length < nonceAt + 28) return Buffer.alloc(0)
  const info = Buffer.concat([Buffer.from('countersign/v1/sealed-box\0'), box.subarray(1, 17), Buffer.of(1)])
  const boxKey = box[0] === 1 ? key : createHmac('sha256', key).update(info).digest()
  // AES-GCM encrypts as AES-CTR does, from the second counter on (NIST SP 800-38D, section 7.1).
  const counter = Buffer.concat([box.subarray(nonceAt, nonceAt + 12), Buffer.of(0, 0, 0, 2)])
  return createDecipheriv('aes-256-ctr', boxKey, counter).update(box.subarray(nonceAt + 28))
}
