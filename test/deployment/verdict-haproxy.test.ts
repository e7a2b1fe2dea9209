/** docs/examples/gateway/haproxy.cfg, run by Debian's HAProxy: it lets a request through with a public verdict, and knows no secret. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { poll } from '../support/command.js'
import { HAPROXY, isHaproxyHere, loopbackPlaces } from '../support/haproxy.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { GOOD, judgeVectors } from '../support/verdict-vectors.js'

const run = promisify(execFile)
const PORT = 8480
const example = (name: string) => packageFile('docs', 'examples', 'gateway', name)

describe.skipIf(!isHaproxyHere)('HAProxy with docs/examples/gateway', () => {
  const { listen } = loopbackPlaces()
  const received: IncomingMessage[] = []
  const application = createServer((asked, response) => {
    received.push(asked)
    response.end('transferred')
  })
  let published: unknown = GOOD.jwks
  const issuer = createServer((_asked, response) => response.end(JSON.stringify(published)))
  const folder = temporaryFolder()
  let child: ChildProcess | undefined

  const port = (server: Server) => (server.address() as AddressInfo).port
  const writeKeys = async () =>
    (
      await run(process.execPath, [
        example('keys.mjs'),
        `http://127.0.0.1:${port(issuer)}/v1`,
        join(folder, 'keys'),
      ])
    ).stdout

  /** Starts HAProxy with the published keys, at the time of the vectors. */
  async function start(): Promise<void> {
    await writeKeys()
    const config = readFileSync(example('haproxy.cfg'), 'utf8')
      .replaceAll('/etc/haproxy/verdict-keys', join(folder, 'keys'))
      .replace('bind :8080', `bind ${listen}:${PORT}`)
      .replace('127.0.0.1:3000', `127.0.0.1:${port(application)}`)
      .replace('date()', `int(${GOOD.now})`)
    writeFileSync(join(folder, 'haproxy.cfg'), config)
    const started = spawn(HAPROXY!, ['-f', join(folder, 'haproxy.cfg')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child = started
    const told = text(started.stderr)
    await poll(
      async () => {
        if (started.exitCode !== null) throw new Error(await told)
        return call('').catch(() => 0)
      },
      (status) => status === 401,
    )
  }

  async function stop(): Promise<void> {
    if (!child || child.exitCode !== null) return
    child.kill()
    await once(child, 'exit')
  }

  async function publish(set: unknown): Promise<void> {
    await stop()
    published = set
    await start()
  }

  const call = async (token: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`http://${listen}:${PORT}/transfers`, { headers: { 'X-Verdict': token, ...headers } }))
      .status

  beforeAll(async () => {
    await once(application.listen(0, '127.0.0.1'), 'listening')
    await once(issuer.listen(0, '127.0.0.1'), 'listening')
    await start()
  })
  beforeEach(() => void received.splice(0))
  afterAll(async () => {
    await stop()
    for (const server of [application, issuer]) server.close()
  })

  it('lets an approval through, and says to the application whose and for what it is', async () => {
    expect(await call(GOOD.jwt, { 'X-Verdict-User': 'grace' })).toBe(200)
    const claims = JSON.parse(Buffer.from(GOOD.jwt.split('.')[1]!, 'base64url').toString())
    expect(received[0]!.headers).toMatchObject({
      'x-verdict-user': claims.sub,
      'x-verdict-action-hash': claims.action_hash,
      'x-verdict-id': claims.jti,
    })
    expect(await call('', { 'X-Verdict-User': 'grace' })).toBe(401)
    expect(await call(`${GOOD.jwt}, ${GOOD.jwt}`)).toBe(401)
    expect(received).toHaveLength(1)
  })

  it('judges each public test vector as the SDKs do', async () => {
    const { judged, expected } = await judgeVectors(publish, call)
    expect(judged).toEqual(expected)
  })

  it('reads the claims of the verdict, and none inside its action or its user', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    await publish({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'ES256' }] })
    const base = JSON.parse(Buffer.from(GOOD.jwt.split('.')[1]!, 'base64url').toString())
    const signed = (claims: object) => {
      const input = [{ alg: 'ES256', typ: 'stepup+jwt', kid: 'k' }, claims]
        .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
        .join('.')
      const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
      return `${input}.${signature.toString('base64url')}`
    }
    const action = { sub: 'grace', verdict: 'approved', env: 'production', exp: base.exp, jti: 'ver_other' }
    // The action comes first, so that a search by name would find its members.
    const inside = Object.assign({ action }, base, { action })
    const sub = 'Zoë "x","sub":"grace" \\'
    expect(await call(signed({ ...inside, sub }))).toBe(200)
    expect(received[0]!.headers['x-verdict-id']).toBe(base.jti)
    expect(decodeURIComponent(String(received[0]!.headers['x-verdict-user']))).toBe(sub)
    for (const change of [
      { verdict: 'rejected' },
      { env: 'sandbox' },
      { exp: base.exp - 3600 },
      { exp: undefined },
    ])
      expect(await call(signed({ ...inside, ...change })), JSON.stringify(change)).toBe(401)
  })

  it('writes the keys again only where they have changed, and refuses more keys than there are places', async () => {
    await publish(GOOD.jwks)
    expect(await writeKeys()).toBe('')
    const [key] = GOOD.jwks.keys as Array<Record<string, string>>
    published = { keys: [key, { ...key, kid: 'next' }] }
    expect(await writeKeys()).toBe('changed\n')
    published = { keys: Array.from({ length: 5 }, (_, index) => ({ ...key, kid: `k${index}` })) }
    await expect(writeKeys()).rejects.toThrow('There are 5 keys and 4 places.')
  })
})
