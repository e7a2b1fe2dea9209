/** Secrets that must never be written down: one whole run, then a search of the complete log and of every database file. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { TemplateVault } from '../../src/users/template-vault.js'
import { apiClient } from '../support/client.js'
import { base64, face, groupPhoto } from '../support/faces.js'
import { startService, type TestService } from '../support/service.js'

const USERS = ['ulrike.meyer@example.test', 'søren-4711', 'erased-user-0815', 'damaged-user-0816']
const ACTION = { type: 'wire_transfer', iban: 'DE89370400440532013000', note: 'secret-purpose' }
const NONCE = 'nonce-of-the-caller-1234'

let running: TestService
let log: string
/** The bytes of every database file, as they were on disk while the service ran. */
let files: Array<{ name: string; bytes: Buffer }>
/** The texts that must stay out of log and files, by kind. */
const secrets: Record<string, string[]> = {
  'an API key': [],
  'a signing secret': [],
  'a JWT': [],
  'an image': [],
  'a user id': USERS,
  'an action or a nonce': [ACTION.iban, ACTION.note, NONCE],
}
const embeddings: Buffer[] = []
let masterKey: Buffer

beforeAll(async () => {
  running = await startService({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })
  const { service } = running
  const ada = base64(await face('ada'))
  const photos = [ada, base64(await face('adaToday')), base64(await face('grace')), base64(groupPhoto())]
  const tenant = await running.tenant()
  const unknown = `${tenant.sandboxKey.slice(0, 20)}mistyped${tenant.sandboxKey.slice(28)}`
  secrets['an image']!.push(...photos)
  secrets['an API key']!.push(tenant.sandboxKey)
  secrets['a signing secret']!.push(tenant.secret.secret)
  const remember = (body: {
    jwt?: string
    jwt_next?: string
    jwt_public?: string
    signing_secret?: { secret: string }
  }) => {
    for (const jwt of [body.jwt, body.jwt_next, body.jwt_public]) if (jwt) secrets['a JWT']!.push(jwt)
    if (body.signing_secret) secrets['a signing secret']!.push(body.signing_secret.secret)
  }
  const key = (name: string) => ({ headers: { 'X-Svc-Idempotency-Key': `idempotency-${name}` } })

  // The sandbox, up to the production key.
  for (const name of ['u+match', 'u+no_match', 'u+spoof', 'u+unavailable', USERS[0]!])
    remember((await tenant.sandbox.verify({ user_id: name, image: ada, action: ACTION })).body)
  await tenant.sandbox.enroll({ user_id: USERS[0], image: ada }, key('sandbox'))
  remember(
    (await tenant.sandbox.verify({ user_id: USERS[0], image: ada, action: ACTION, nonce: NONCE })).body,
  )
  const production = await running.production(tenant)
  secrets['an API key']!.push(production.key)

  // Production: every call that succeeds.
  for (const name of USERS) {
    const enrolled = await production.enroll({ user_id: name, image: ada }, key(`enroll-${name.length}`))
    expect(enrolled.status).toBe(201)
    for (const image of photos)
      remember((await production.verify({ user_id: name, image, action: ACTION, nonce: NONCE })).body)
  }
  for (let i = 0; i < 2; i++)
    remember((await production.verify({ user_id: USERS[1], image: ada, action: ACTION }, key('verify'))).body)
  remember((await production.rotate({}, key('rotate'))).body)
  remember((await production.verify({ user_id: USERS[0], image: photos[1], action: ACTION })).body)
  remember((await production.rotate({})).body)
  remember((await production.rotate({ force: true })).body)

  // The embeddings, before any is erased.
  const { store, keys } = service.core
  const vault = new TemplateVault(keys, running.clock)
  for (const name of USERS) {
    const subject = (await vault.find(store.read, vault.blindIndex(tenant.id, 'production', name), name))!
    const { embedding } = vault.openReference(subject, subject.reference!)
    embeddings.push(Buffer.from(embedding.buffer, embedding.byteOffset, embedding.byteLength))
  }
  expect((await production.erase(USERS[2]!)).status).toBe(200)
  expect((await production.call('DELETE', `/v1/delete?user_id=${USERS[2]}`)).status).toBe(200)

  // A damaged row causes an error of the service itself.
  const damage = new Database(join(running.dataDir, 'countersign.db'), { timeout: 5000 })
  const blindIndex = vault.blindIndex(tenant.id, 'production', USERS[3]!)
  damage.prepare("UPDATE subject SET wrapped_key = x'00' WHERE lookup = ?").run(blindIndex)
  damage.close()
  const broken = await production.verify({ user_id: USERS[3], image: ada, action: ACTION })
  expect(broken.body).toMatchObject({ code: 'store_unavailable' })

  // Every mistake of a caller, above all a key in the wrong place.
  for (const secret of [production.key, tenant.sandboxKey, tenant.secret.secret, unknown])
    for (const url of [service.url('production'), service.url('sandbox')]) {
      const client = apiClient(url)
      await client.call('GET', `/v1/health/${secret}`)
      await client.call('GET', `/${secret}`)
      await client.call('GET', `/v1/health?api_key=${secret}`)
      await client.call('POST', `/v1/verify?key=${secret}&user=${encodeURIComponent(USERS[1]!)}`, {})
      await client.call(secret.slice(0, 7).toUpperCase().replaceAll('-', 'X'), '/v1/verify')
      for (const authorization of [
        secret,
        `Basic ${Buffer.from(`key:${secret}`).toString('base64')}`,
        `Bearer${secret}`,
        `Bearer ${secret}x`,
        `Bearer ${secret} ${secret}`,
        `Token token="${secret}"`,
      ])
        await client.call('GET', '/v1/health', undefined, { headers: { Authorization: authorization } })
      await apiClient(url, secret).health()
      await production.call('GET', '/v1/health', undefined, {
        headers: {
          'X-Request-Id': secret,
          'X-Svc-Idempotency-Key': secret,
          'X-Svc-Signing-Key-Id': secret,
          'User-Agent': secret,
          Cookie: `key=${secret}`,
        },
      })
      await production.enroll({ user_id: secret, [secret]: secret })
    }
  for (const raw of [`{"user_id": "${USERS[0]}", "image": "${ada}"`, `${USERS[1]} ${ada}`])
    await production.call('POST', '/v1/verify', undefined, { raw })
  await production.enroll({ user_id: USERS[0], image: `data:image/jpeg;base64,${ada}` })
  await production.enroll({ user_id: USERS[0], image: ada, [USERS[1]!]: ada })
  await production.enroll({ user_id: USERS[0], image: ada })
  await production.verify({ user_id: USERS[0], image: ada.slice(0, 8000), action: ACTION })
  await production.call('DELETE', `/v1/delete?user_id=${encodeURIComponent(USERS[1]!)}&x=${production.key}`)
  await production.call('DELETE', `/v1/delete/${USERS[0]}`)

  files = readdirSync(running.dataDir)
    .filter((name) => name.startsWith('countersign.db'))
    .map((name) => ({ name, bytes: readFileSync(join(running.dataDir, name)) }))
  masterKey = Buffer.from(readFileSync(join(running.dataDir, 'master.key'), 'utf8'), 'base64')
  await service.stop()
  log = running.logText()
})
afterAll(() => running?.stop())

/** The forms in which a text could slip through. Long texts are searched in pieces: an excerpt is a leak as well. */
function forms(secret: string): string[] {
  const pieces =
    secret.length > 200
      ? [100, secret.length >> 1, secret.length - 140].map((at) => secret.slice(at, at + 40))
      : [secret]
  return pieces.flatMap((piece) => [
    piece,
    encodeURIComponent(piece),
    JSON.stringify(piece).slice(1, -1),
    Buffer.from(piece).toString('hex'),
    Buffer.from(piece)
      .toString('base64')
      .replace(/.{0,4}=*$/, ''),
  ])
}

function linesOf(text: string) {
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}

describe('the log', () => {
  it('contains every request, and the error of the service', () => {
    const lines = linesOf(log)
    expect(lines.filter(({ msg }) => msg === 'request').length).toBeGreaterThan(100)
    expect(new Set(lines.map(({ endpoint }) => endpoint))).toEqual(
      new Set([undefined, 'enroll', 'verify', 'delete', 'health', 'rotate_signing', 'unknown']),
    )
    expect(lines.filter(({ level }) => level >= 50).map(({ msg }) => msg)).toContain(
      'The database cannot serve at the moment.',
    )
  })

  it('says why a verify was rejected', () => {
    const rejected = linesOf(log).filter(({ verdict }) => verdict === 'rejected')
    expect(rejected.length).toBeGreaterThan(0)
    expect(rejected.map(({ reason }) => reason)).not.toContain(undefined)
  })

  for (const kind of Object.keys(secrets))
    it(`never contains ${kind}`, () => {
      expect(secrets[kind]!.length).toBeGreaterThan(0)
      expect(secrets[kind]!.flatMap(forms).filter((form) => log.includes(form))).toEqual([])
    })

  it('never contains anything that looks like a key, a secret or a JWT', () => {
    expect(log).not.toMatch(/svc-(sbx|prod|sec)-/)
    expect(log).not.toMatch(/eyJ[\w-]{10,}\./)
    expect(log).not.toMatch(/[A-Za-z0-9+/]{100,}/)
  })

  it('never contains an embedding', () => {
    expect(embeddings).toHaveLength(USERS.length)
    for (const embedding of embeddings) {
      const number = String(embedding.readFloatLE(0))
      for (const form of [embedding.toString('hex', 0, 16), embedding.toString('base64', 0, 15), number])
        expect(log.includes(form)).toBe(false)
    }
  })
})

describe('the database files', () => {
  it('consist of the database and its write-ahead log', () => {
    expect(files.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['countersign.db', 'countersign.db-wal']),
    )
    expect(Buffer.concat(files.map(({ bytes }) => bytes)).includes('CREATE TABLE reference')).toBe(true)
  })

  for (const kind of Object.keys(secrets))
    it(`never contain ${kind}`, () => {
      for (const { name, bytes } of files)
        expect(
          secrets[kind]!.flatMap(forms).filter((form) => bytes.includes(form)),
          name,
        ).toEqual([])
    })

  it('never contain an image as bytes', () => {
    for (const photo of secrets['an image']!) {
      const middle = Buffer.from(photo, 'base64')
      const piece = middle.subarray(middle.length >> 1, (middle.length >> 1) + 32)
      for (const { bytes } of files) expect(bytes.includes(piece)).toBe(false)
    }
  })

  it('never contain an embedding, nor a piece of one', () => {
    for (const embedding of embeddings)
      for (let at = 0; at + 16 <= embedding.length; at += 16)
        for (const { bytes } of files) expect(bytes.includes(embedding.subarray(at, at + 16))).toBe(false)
  })

  it('never contain the master key', () => {
    for (const { bytes } of files)
      for (const form of [
        masterKey,
        Buffer.from(masterKey.toString('base64')),
        Buffer.from(masterKey.toString('hex')),
      ])
        expect(bytes.includes(form)).toBe(false)
  })
})
