import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { overTransports } from '../support/transports.js'
import { validSignatures } from '../support/trust.js'

overTransports((transport) => {
  const dir = mkdtempSync(join(tmpdir(), 'countersign-tls-'))
  const certificate = join(dir, 'cert.pem')
  const privateKey = join(dir, 'key.pem')
  let running: TestService
  let tenant: TestTenant

  beforeAll(async () => {
    execFileSync(
      'openssl',
      [
        ...[
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-days',
          '30',
        ],
        ...['-keyout', privateKey, '-out', certificate, '-subj', '/CN=localhost'],
      ],
      { stdio: 'ignore' },
    )
    running = await startService({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_TLS_CERT: certificate,
      COUNTERSIGN_TLS_KEY: privateKey,
    })
    tenant = await running.tenant()
  })
  afterAll(async () => {
    await running?.stop()
    rmSync(dir, { recursive: true, force: true })
  })

  /** Node's fetch takes no certificate of one's own. */
  function call(method: string, target: string) {
    const { hostname, port } = new URL(running.service.url('sandbox'))
    return new Promise<{ status: number; headers: Headers; text: string }>((resolve, reject) => {
      const headers = { Authorization: `Bearer ${tenant.sandboxKey}` }
      request({ hostname, port, method, path: target, headers, rejectUnauthorized: false }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => {
          const pairs = Object.entries(response.headers) as Array<[string, string]>
          resolve({ status: response.statusCode!, headers: new Headers(pairs), text })
        })
      })
        .on('error', reject)
        .end()
    })
  }

  describe('with a certificate', () => {
    it('both base URLs are https, and so is the issuer', () => {
      for (const environment of ['production', 'sandbox'] as const)
        expect(running.service.url(environment)).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v1$/)
    })

    it('answers are signed as ever, and a rotation may be answered', async () => {
      for (const [method, target] of [
        ['GET', '/v1/health'],
        ['POST', '/v1/keys/rotate-signing'],
      ] as const) {
        const response = await call(method, target)
        expect(response.status).toBe(200)
        const signed = { ...response, body: JSON.parse(response.text), request: { method, target } }
        expect(validSignatures(signed, { [tenant.secret.id]: tenant.secret.secret })).toEqual([
          tenant.secret.id,
        ])
      }
    })

    it('plain HTTP gets no answer from an endpoint', async () => {
      const plain = fetch(running.service.url('sandbox').replace('https:', 'http:'))
      await expect(plain.then(({ status }) => status)).rejects.toThrow()
    })

    it('versions before TLS 1.2 are refused', async () => {
      const { hostname, port } = new URL(running.service.url('sandbox'))
      const handshake = new Promise((resolve, reject) => {
        const socket = connect({
          host: hostname,
          port: Number(port),
          maxVersion: 'TLSv1.1',
          minVersion: 'TLSv1',
          ciphers: 'DEFAULT@SECLEVEL=0',
          rejectUnauthorized: false,
        })
        socket.once('secureConnect', resolve).once('error', reject)
      })
      await expect(handshake).rejects.toThrow()
    })
  })

  describe('a certificate that cannot be used', () => {
    it('keeps the service from starting, with a message that names the file', async () => {
      const broken = join(dir, 'broken.pem')
      writeFileSync(broken, 'no certificate')
      await expect(
        startService({
          COUNTERSIGN_HTTP: transport,
          COUNTERSIGN_TLS_CERT: broken,
          COUNTERSIGN_TLS_KEY: privateKey,
        }),
      ).rejects.toThrow(broken)
    })
  })
})
