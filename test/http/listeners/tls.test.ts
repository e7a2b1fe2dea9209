import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../src/lib/clock.js'
import { sampleOf, scrape } from '../../support/metrics.js'
import { startService, type TestService, type TestTenant } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { overTransports } from '../../support/transports.js'
import { validSignatures } from '../../support/trust.js'

overTransports((transport) => {
  const dir = temporaryFolder()
  const certificate = join(dir, 'cert.pem')
  const privateKey = join(dir, 'key.pem')
  /** A certificate of its own key. */
  const makePair = (cert: string, key: string, days: number) =>
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', String(days), '-keyout', join(dir, key), '-out', join(dir, cert)],
        ...['-subj', '/CN=localhost'],
      ],
      { stdio: 'ignore' },
    )
  let running: TestService
  let tenant: TestTenant

  beforeAll(async () => {
    makePair('cert.pem', 'key.pem', 30)
    running = await startService({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_TLS_CERT: certificate,
      COUNTERSIGN_TLS_KEY: privateKey,
    })
    tenant = await running.tenant()
  })
  afterAll(() => running?.stop())

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
    it('serves both base URLs and the issuer by https', () => {
      for (const environment of ['production', 'sandbox'] as const)
        expect(running.service.url(environment)).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v1$/)
    })

    it('signs answers over TLS, and answers a rotation of the signing secret', async () => {
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

    it('gives no answer of an endpoint to plain HTTP', async () => {
      const plain = fetch(running.service.url('sandbox').replace('https:', 'http:'))
      await expect(plain.then(({ status }) => status)).rejects.toThrow()
    })

    it('refuses versions before TLS 1.2', async () => {
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

  describe('a certificate that is renewed', () => {
    const address = (environment: 'production' | 'sandbox') => {
      const { hostname, port } = new URL(running.service.url(environment))
      return { host: hostname, port: Number(port), rejectUnauthorized: false }
    }
    /** Fingerprint of the certificate that a new connection gets. */
    async function shown(environment: 'production' | 'sandbox' = 'sandbox'): Promise<string> {
      const socket = connect(address(environment))
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    const fingerprintOf = (file: string) => new X509Certificate(readFileSync(file)).fingerprint256
    const expiry = async (listeners: string) =>
      sampleOf(
        await scrape(running),
        `countersign_tls_certificate_expiry_timestamp_seconds{listeners="${listeners}"}`,
      )
    const expiryOf = (file: string) => Date.parse(new X509Certificate(readFileSync(file)).validTo) / 1000

    it('shows a renewed certificate to new connections, and goes on answering open ones', async () => {
      const before = fingerprintOf(certificate)
      expect(await shown()).toBe(before)
      const open = connect(address('sandbox'))
      await once(open, 'secureConnect')
      makePair('cert.pem', 'key.pem', 60)
      // The service's clock stands still: for it, what was made just now is not valid yet.
      running.clock.advance(HOUR_MS)
      expect(await running.service.reload(running.service.config)).toBe(true)
      const after = fingerprintOf(certificate)
      expect(after).not.toBe(before)
      expect([await shown('sandbox'), await shown('production')]).toEqual([after, after])
      open.write(
        `GET /v1/health HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${tenant.sandboxKey}\r\n\r\n`,
      )
      const [answer] = await once(open, 'data')
      expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /)
      open.destroy()
      expect((await call('GET', '/v1/health')).status).toBe(200)
      expect(await expiry('api')).toBe(expiryOf(certificate))
      // Number() reads no "+Inf".
      expect(await expiry('admin')).toBeNaN()
    })

    it('keeps the certificate where the new one cannot be used, and logs why', async () => {
      const before = await shown()
      const [good, expires] = [fingerprintOf(certificate), await expiry('api')]
      expect(before).toBe(good)
      makePair('stray.pem', 'stray.key', 30)
      const { config } = running.service
      const stray = join(dir, 'stray.key')
      expect(await running.service.reload({ ...config, tlsKey: stray })).toBe(false)
      expect([await shown('sandbox'), await shown('production')]).toEqual([before, before])
      expect(await expiry('api')).toBe(expires)
      const told = running
        .logText()
        .split('\n')
        .findLast((line) => line.includes('the old one stays'))
      expect(told).toContain(`The TLS key ${stray} does not belong to the certificate`)
    })
  })

  describe('a certificate that cannot be used', () => {
    it('does not start with a certificate that cannot be used, and names the file', async () => {
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

    it('refuses a certificate of another key in the words of `config check`', async () => {
      makePair('other.pem', 'other.key', 30)
      const other = join(dir, 'other.key')
      await expect(
        startService({
          COUNTERSIGN_HTTP: transport,
          COUNTERSIGN_TLS_CERT: certificate,
          COUNTERSIGN_TLS_KEY: other,
        }),
      ).rejects.toThrow(`The TLS key ${other} does not belong to the certificate ${certificate}.`)
    })
  })
})
