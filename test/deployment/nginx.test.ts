/** docs/operations/nginx.conf, run by Debian's nginx: paths stay as they are, and no call is sent twice that a node may have read. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connect } from 'node:tls'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { SETTINGS } from '../../src/config/config.js'
import { packageFile } from '../../src/lib/package-root.js'
import { CertificateMaker } from '../support/certificates.js'
import { poll } from '../support/command.js'
import { loopbackPlaces } from '../support/haproxy.js'

const CONFIG = packageFile('docs', 'operations', 'nginx.conf')
const shipped = readFileSync(CONFIG, 'utf8')
/** Debian keeps it out of the path of those who are not root. */
const NGINX = ['nginx', '/usr/sbin/nginx'].find((file) => !spawnSync(file, ['-v']).error)
const PORT = 8443

const seconds = (directive: string) => Number(new RegExp(`^ *${directive} (\\d+)s;`, 'm').exec(shipped)![1])

it('docs/operations/nginx.conf waits longer than the deadline, closes idle connections before the service does, and takes the largest body', () => {
  expect(seconds('proxy_read_timeout') * 1000).toBeGreaterThan(Number(SETTINGS.deadlineMs.fallback) + 1000)
  expect(seconds('keepalive_timeout') * 1000).toBeLessThan(Number(SETTINGS.httpIdleMs.fallback))
  const megabytes = Number(/^client_max_body_size (\d+)m;/m.exec(shipped)![1])
  expect(megabytes * 2 ** 20).toBeGreaterThan(Number(SETTINGS.maxBodyBytes.fallback))
})

describe.skipIf(NGINX === undefined)('nginx', () => {
  const { listen, nodeA, nodeB } = loopbackPlaces()
  const received: Array<{ node: string; request: IncomingMessage }> = []
  const nodes = [nodeA, nodeB].map((node) => ({
    node,
    server: createServer((asked, response) => {
      received.push({ node, request: asked })
      asked.resume().on('end', () => answer(asked, response))
    }),
  }))
  const answered = (_asked: IncomingMessage, response: ServerResponse) => void response.end('answered')
  let answer = answered
  let folder: string
  let child: ChildProcess

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'countersign-nginx-'))
    const certificates = new CertificateMaker(folder)
    certificates.authority('ca')
    certificates.issue('key', 'ca')
    const ours = shipped
      .replaceAll('10.0.0.11', nodeA)
      .replace('# server 10.0.0.12:8080;', `server ${nodeB}:8080;`)
      .replaceAll('listen 443', `listen ${listen}:${PORT}`)
      .replaceAll('/etc/nginx/countersign/chain.pem', join(folder, 'key.pem'))
      .replaceAll('/etc/nginx/countersign/key.pem', join(folder, 'key.key'))
      .replaceAll('/var/log/nginx/', `${folder}/`)
    writeFileSync(join(folder, 'countersign.conf'), ours)
    const main = `daemon off; pid ${folder}/pid; error_log ${folder}/error.log; worker_processes 1; events {}
      http { ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_ciphers ALL:@SECLEVEL=0; access_log ${folder}/others.log; client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; include ${folder}/countersign.conf; }`
    writeFileSync(join(folder, 'nginx.conf'), main)
    for (const { node, server } of nodes) await once(server.listen(8080, node), 'listening')
    child = spawn(NGINX!, ['-e', `${folder}/error.log`, '-c', `${folder}/nginx.conf`], { stdio: 'inherit' })
    await poll(
      async () => {
        if (child.exitCode !== null) throw new Error(readFileSync(`${folder}/error.log`, 'utf8'))
        return (await call('/').catch(() => ({ status: 0 }))).status
      },
      (status) => status === 200,
    )
  })
  beforeEach(() => {
    received.length = 0
    answer = answered
  })
  afterAll(async () => {
    if (child?.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
    for (const { server } of nodes) {
      server.close()
      server.closeAllConnections()
    }
    rmSync(folder, { recursive: true, force: true })
  })

  async function call(path: string, headers: Record<string, string> = {}, body?: string) {
    const method = body === undefined ? 'GET' : 'POST'
    const options = {
      host: listen,
      port: PORT,
      path,
      method,
      headers,
      rejectUnauthorized: false,
      agent: false,
    }
    const asked = request({ ...options, servername: 'verify.bank.example' } as const)
    asked.end(body)
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    return { status: response.statusCode, body: await text(response) }
  }

  it('refuses TLS 1.1, which the nginx.conf of Debian allows', async () => {
    const handshake = async (maxVersion: 'TLSv1.1' | 'TLSv1.2') => {
      const options = {
        host: listen,
        port: PORT,
        servername: 'verify.bank.example',
        rejectUnauthorized: false,
      }
      const socket = connect({ ...options, minVersion: 'TLSv1.1', maxVersion, ciphers: 'ALL:@SECLEVEL=0' })
      try {
        await once(socket, 'secureConnect')
        return socket.getProtocol()
      } finally {
        socket.destroy()
      }
    }
    await expect(handshake('TLSv1.2')).resolves.toBe('TLSv1.2')
    await expect(handshake('TLSv1.1')).rejects.toThrow(/protocol version/)
  })

  it('passes path and query on as they were sent, and names only the caller', async () => {
    const path = '/v1/users/a%2Fb%20c/../d//e?x=%2f&y=+'
    await call(path, { Host: 'verify.bank.example', 'X-Forwarded-For': '192.0.2.1' })
    const [{ request: asked }] = received as [(typeof received)[0]]
    expect(asked.url).toBe(path)
    expect(asked.headers.host).toBe('verify.bank.example')
    expect(asked.headers['x-forwarded-for']).toMatch(/^127\./)
  })

  it('never sends a POST twice that a node has read', async () => {
    answer = (asked) => void asked.socket.destroy()
    expect((await call('/v1/verify', {}, 'photo')).status).toBe(502)
    expect(received).toHaveLength(1)
  })

  it('sends a POST to the other node where the first takes no connection', async () => {
    const [{ server }] = nodes as [(typeof nodes)[0]]
    server.close()
    server.closeAllConnections()
    const answers = await Promise.all([1, 2, 3].map(() => call('/v1/verify', {}, 'photo')))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(received.map(({ node }) => node))).toEqual(new Set([nodeB]))
  })

  it('logs no path and no query, whose user ids no erasure would reach', async () => {
    answer = (_asked, response) => void response.setHeader('X-Request-Id', 'req_1').end('answered')
    await call('/v1/users/ada-lovelace?user_id=ada-lovelace')
    const log = await poll(
      async () => readFileSync(`${folder}/countersign.log`, 'utf8'),
      (lines) => lines.includes('req_1'),
    )
    expect(log).toContain(' GET 200 ')
    expect(log + readFileSync(`${folder}/others.log`, 'utf8')).not.toContain('ada-lovelace')
  })
})
