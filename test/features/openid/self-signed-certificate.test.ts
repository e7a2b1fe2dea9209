/** Tests of the certificates around keys of the OpenID provider, read by OpenSSL. */
import { execFileSync } from 'node:child_process'
import { generateKeyPairSync, X509Certificate } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { selfSignedCertificate } from '../../../src/features/openid/self-signed-certificate.js'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const facts = {
  name: 'oik_0123456789',
  serial: Buffer.from('40ff', 'hex'),
  notBefore: Date.UTC(2026, 10, 23, 18, 0, 1),
  notAfter: Date.UTC(2051, 0, 2, 3, 4, 5),
}
const made = () => selfSignedCertificate(privateKey, facts)

describe('a self-signed certificate', () => {
  it('holds the key, its name and its times, and is signed with the key', () => {
    const certificate = new X509Certificate(made())
    expect(certificate.verify(publicKey)).toBe(true)
    expect(certificate.publicKey.equals(publicKey)).toBe(true)
    expect(certificate.subject).toBe('CN=oik_0123456789')
    expect(certificate.issuer).toBe(certificate.subject)
    expect(certificate.serialNumber).toBe('40FF')
    expect(new Date(certificate.validFrom).getTime()).toBe(facts.notBefore)
    expect(new Date(certificate.validTo).getTime()).toBe(facts.notAfter)
  })

  it('has the same bytes for the same key and facts', () => {
    expect(made().equals(made())).toBe(true)
  })

  it('is one that OpenSSL reads, for signatures only', () => {
    const pem = new X509Certificate(made()).toString()
    const text = execFileSync('openssl', ['x509', '-noout', '-text'], { input: pem }).toString()
    expect(text).toContain('Version: 3')
    expect(text).toContain('sha256WithRSAEncryption')
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/)
  })
})
