/** Which cipher suites the TLS listeners take: real handshakes with every listener, over both transports. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { connect, type SecureVersion } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startService, type TestService } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'
import { overTransports } from '../../support/transports.js'

const WITHOUT_FORWARD_SECRECY = ['AES128-SHA', 'AES256-SHA', 'AES128-GCM-SHA256', 'AES256-GCM-SHA384']
const WITH_CBC = ['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA', 'ECDHE-RSA-AES128-SHA256']
const TAKEN = ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305']

overTransports((transport) => {
  const dir = temporaryFolder()
  const files = { cert: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  let running: TestService
  let ports: Record<string, number>

  beforeAll(async () => {
    // Suites without forward secrecy encrypt under the key of the certificate, which only RSA can do.
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=localhost'],
        ...['-keyout', files.key, '-out', files.cert],
      ],
      { stdio: 'ignore' },
    )
    running = await startService({
      COUNTERSIGN_HTTP: transport,
      COUNTERSIGN_CAPTURE_LISTEN: '127.0.0.1:0',
      ...{ COUNTERSIGN_TLS_CERT: files.cert, COUNTERSIGN_TLS_KEY: files.key },
      ...{ COUNTERSIGN_ADMIN_TLS_CERT: files.cert, COUNTERSIGN_ADMIN_TLS_KEY: files.key },
      ...{ COUNTERSIGN_CAPTURE_TLS_CERT: files.cert, COUNTERSIGN_CAPTURE_TLS_KEY: files.key },
    })
    const { service } = running
    const portOf = (url: string) => Number(new URL(url).port)
    ports = {
      production: portOf(service.url('production')),
      sandbox: portOf(service.url('sandbox')),
      admin: portOf(service.adminUrl),
      capture: portOf(service.origin('capture')!),
    }
  })
  afterAll(() => running?.stop())

  /** The suite that a handshake ended with; null where there was none. */
  function handshake(listener: string, ciphers: string, version: SecureVersion): Promise<string | null> {
    return new Promise((resolve) => {
      const socket = connect({
        ...{ host: '127.0.0.1', port: ports[listener]!, rejectUnauthorized: false },
        ...{ minVersion: version, maxVersion: version },
        // A client that would take the weakest that its library has; a name of TLS 1.3 is no part of such a list.
        ciphers: version === 'TLSv1.3' ? ciphers : `${ciphers}:@SECLEVEL=0`,
      })
      socket.once('error', () => resolve(null))
      socket.once('secureConnect', () => {
        resolve(socket.getCipher().name)
        socket.destroy()
      })
    })
  }

  for (const listener of ['production', 'sandbox', 'admin', 'capture'])
    describe(`the ${listener} listener`, () => {
      for (const suite of [...WITHOUT_FORWARD_SECRECY, ...WITH_CBC])
        it(`refuses the cipher suite ${suite}`, async () => {
          expect(await handshake(listener, suite, 'TLSv1.2')).toBeNull()
        })

      it('accepts suites of TLS 1.2 with forward secrecy', async () => {
        for (const suite of TAKEN) expect(await handshake(listener, suite, 'TLSv1.2')).toBe(suite)
      })

      it('accepts TLS 1.3', async () => {
        const suite = 'TLS_AES_256_GCM_SHA384'
        expect(await handshake(listener, suite, 'TLSv1.3')).toBe(suite)
      })
    })
})
