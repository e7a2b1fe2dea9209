/** Client certificates where TLS ends at the service: what a listener asks for, and keys that are bound to one. */

import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { request } from 'node:https'
import { describe, expect, it } from 'vitest'
import { COMMAND_LINE } from '../../../src/audit/audited-unit-of-work.js'
import { CertificateMaker } from '../../support/certificates.js'
import { serviceOfFile, startService } from '../../support/service.js'
import { temporaryFolder } from '../../support/temporary-folder.js'

const dir = temporaryFolder()
const maker = new CertificateMaker(dir)
for (const authority of ['authority', 'stranger']) maker.authority(authority)
maker.issue('server', 'authority', { names: 'IP:127.0.0.1' })
maker.issue('payments', 'authority')
maker.issue('payments-next', 'authority', { subject: 'payments' })
maker.issue('other', 'authority')
maker.issue('forged', 'stranger', { subject: 'payments' })
const settings = {
  COUNTERSIGN_HTTP: 'node',
  COUNTERSIGN_TLS_CERT: maker.at('server.pem'),
  COUNTERSIGN_TLS_KEY: maker.at('server.key'),
  COUNTERSIGN_CLIENT_CA: maker.at('authority.pem'),
}
const running = await serviceOfFile({ ...settings, COUNTERSIGN_PRODUCTION_CLIENT_CERTIFICATES: 'require' })
const tenant = await running.tenant()
await running.production(tenant)

interface Answer {
  status: number
  body: { code?: string }
}

/** @param certificate that the caller shows; null for none */
function health(key: string, certificate: string | null, environment: 'production' | 'sandbox' = 'sandbox') {
  const { hostname, port } = new URL(running.service.url(environment))
  const shown = certificate
    ? {
        cert: readFileSync(maker.at(`${certificate}.pem`)),
        key: readFileSync(maker.at(`${certificate}.key`)),
      }
    : {}
  return new Promise<Answer>((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}` }
    const options = { hostname, port, path: '/v1/health', headers, agent: false, rejectUnauthorized: false }
    request({ ...options, ...shown }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => resolve({ status: response.statusCode!, body: JSON.parse(text) }))
    })
      .on('error', reject)
      .end()
  })
}

let made = 0
async function boundKey(certificate: string, environment: 'production' | 'sandbox' = 'sandbox') {
  const { tenancy } = running.service.core
  const operations = running.operations
  const grants = { name: `bound-${++made}`, scopes: null, networks: null, certificate }
  const record = await tenancy.find(tenant.id)
  return (await operations.keys.create(record, COMMAND_LINE, environment, grants)).key
}
const fingerprintOf = (name: string) =>
  new X509Certificate(readFileSync(maker.at(`${name}.pem`))).fingerprint256

it('a listener that requests client certificates accepts keys that need no certificate with a certificate, without one and with one of an unknown authority', async () => {
  for (const certificate of [null, 'payments', 'forged'])
    expect((await health(tenant.sandboxKey, certificate)).status).toBe(200)
})

it('a listener that requires client certificates ends the handshake of a caller who shows no certificate, or one of an unknown authority', async () => {
  const key = await boundKey('CN=payments', 'production')
  for (const certificate of [null, 'forged'])
    await expect(health(key, certificate, 'production')).rejects.toThrow()
  expect((await health(key, 'payments', 'production')).status).toBe(200)
})

describe('a key that is bound to a certificate', () => {
  const refused = { status: 403, body: { code: 'client_certificate_required' } }

  it('accepts a key that is bound by fingerprint with that certificate only', async () => {
    const key = await boundKey(fingerprintOf('payments'))
    expect((await health(key, 'payments')).status).toBe(200)
    for (const certificate of [null, 'payments-next', 'other', 'forged'])
      expect(await health(key, certificate)).toMatchObject(refused)
  })

  it('accepts a key that is bound by common name with every certificate of that name that an authority issued', async () => {
    const key = await boundKey('CN=payments')
    for (const certificate of ['payments', 'payments-next'])
      expect((await health(key, certificate)).status).toBe(200)
    for (const certificate of [null, 'other', 'forged'])
      expect(await health(key, certificate)).toMatchObject(refused)
  })

  it('refuses to bind a key to anything but a fingerprint or a common name', async () => {
    for (const text of ['payments', 'CN=', 'sha256:12', 'O=payments'])
      await expect(boundKey(text)).rejects.toMatchObject({ code: 'invalid_certificate' })
  })
})

it('a service does not start with client certificates over uWebSockets.js or without TLS', async () => {
  await expect(startService({ ...settings, COUNTERSIGN_HTTP: 'auto' })).rejects.toThrow(
    /COUNTERSIGN_CLIENT_CA needs COUNTERSIGN_HTTP=node/,
  )
  const { COUNTERSIGN_TLS_CERT: _, COUNTERSIGN_TLS_KEY: __, ...withoutTls } = settings
  await expect(startService(withoutTls)).rejects.toThrow(/COUNTERSIGN_CLIENT_CA needs COUNTERSIGN_TLS_CERT/)
})
