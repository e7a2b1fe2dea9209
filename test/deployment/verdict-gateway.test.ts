/** docs/examples/gateway, run by Debian's nginx: it lets a request through with a public verdict, and knows no secret. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { poll } from '../support/command.js'
import { loopbackPlaces } from '../support/haproxy.js'
import { GOOD, judgeVectors } from '../support/verdict-vectors.js'

const NGINX = ['nginx', '/usr/sbin/nginx'].find((file) => !spawnSync(file, ['-v']).error)
const MODULE = ['/usr/lib/nginx/modules/ngx_http_js_module.so'].find((file) => existsSync(file))
const PORT = 8480

describe.skipIf(NGINX === undefined || MODULE === undefined)('nginx with docs/examples/gateway', () => {
  const { listen } = loopbackPlaces()
  const received: IncomingMessage[] = []
  const application = createServer((asked, response) => {
    received.push(asked)
    response.end('transferred')
  })
  let reads = 0
  let published: unknown = GOOD.jwks
  const issuer = createServer((_asked, response) => {
    reads++
    response.setHeader('Cache-Control', 'public, max-age=600')
    response.end(JSON.stringify(published))
  })
  let folder: string
  let child: ChildProcess

  /** @param now the time that the gateway is to believe, since the vectors have times of their own */
  async function start(now: number): Promise<void> {
    folder = mkdtempSync(join(tmpdir(), 'countersign-gateway-'))
    // Started by root, nginx works as a user who has to enter the folder.
    chmodSync(folder, 0o755)
    const file = (name: string) => readFileSync(packageFile('docs', 'examples', 'gateway', name), 'utf8')
    writeFileSync(join(folder, 'verdict.js'), file('verdict.js').replace('Date.now() / 1000', String(now)))
    const port = (server: Server) => (server.address() as AddressInfo).port
    const ours = file('nginx.conf')
      .replace('/etc/nginx/countersign/verdict.js', join(folder, 'verdict.js'))
      .replace('/var/cache/nginx/verdict-keys', join(folder, 'keys'))
      .replace('listen 8080', `listen ${listen}:${PORT}`)
      .replace('http://127.0.0.1:3000', `http://127.0.0.1:${port(application)}`)
      .replace(
        'https://countersign.example.com/v1/.well-known/jwks.json',
        `http://127.0.0.1:${port(issuer)}/v1/.well-known/jwks.json`,
      )
    writeFileSync(join(folder, 'gateway.conf'), ours)
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    writeFileSync(
      join(folder, 'nginx.conf'),
      `load_module ${MODULE}; daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; events {}
      http { access_log off; ${paths.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')} include ${folder}/gateway.conf; }`,
    )
    child = spawn(NGINX!, ['-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], { stdio: 'inherit' })
    await poll(
      async () => {
        if (child.exitCode !== null) throw new Error(readFileSync(`${folder}/error.log`, 'utf8'))
        return call('').catch(() => 0)
      },
      (status) => status === 401,
    )
  }

  async function end(): Promise<void> {
    child.kill()
    await once(child, 'exit')
    rmSync(folder, { recursive: true, force: true })
  }

  const call = async (token: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`http://${listen}:${PORT}/transfers`, { headers: { 'X-Verdict': token, ...headers } }))
      .status

  beforeAll(async () => {
    await once(application.listen(0, '127.0.0.1'), 'listening')
    await once(issuer.listen(0, '127.0.0.1'), 'listening')
    await start(GOOD.now)
  })
  beforeEach(() => void received.splice(0))
  afterAll(async () => {
    if (child?.exitCode === null) await end()
    for (const server of [application, issuer]) server.close()
  })

  it('lets an approval through, and says to the application whose and for what it is', async () => {
    expect(await call(GOOD.jwt)).toBe(200)
    const claims = JSON.parse(Buffer.from(GOOD.jwt.split('.')[1]!, 'base64url').toString())
    expect(received[0]!.headers).toMatchObject({
      'x-verdict-user': claims.sub,
      'x-verdict-action-hash': claims.action_hash,
      'x-verdict-id': claims.jti,
    })
  })

  it('replaces such headers of the caller', async () => {
    expect(await call(GOOD.jwt, { 'X-Verdict-User': 'grace' })).toBe(200)
    expect(received[0]!.headers['x-verdict-user']).toBe('ada')
    expect(await call('', { 'X-Verdict-User': 'grace' })).toBe(401)
    expect(received).toHaveLength(1)
  })

  it('reads the keys once for many requests', async () => {
    const before = reads
    for (let i = 0; i < 5; i++) expect(await call(GOOD.jwt)).toBe(200)
    expect(reads).toBe(before)
  })

  it('judges each public test vector as the SDKs do', async () => {
    const { judged, expected } = await judgeVectors(async (set) => {
      // Another set of keys needs another cache.
      await end()
      published = set
      await start(GOOD.now)
    }, call)
    expect(judged).toEqual(expected)
  })
})
