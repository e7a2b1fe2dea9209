/**
 * Checks whose attestation a registration carries (WebAuthn Level 3, section 7.1, steps 22 to 25): a chain of certificates up to a root that the
 * tenant's operator has named. The signature of the attestation is checked by `@simplewebauthn/server`; no certificate of a stranger is
 * looked up anywhere, so that none can send the service to an address.
 */
import { X509Certificate } from 'node:crypto'
import type { decodeAttestationObject } from '@simplewebauthn/server/helpers'

/** Certificates of a chain, at most: the authenticator's and three authorities. */
const MAX_CHAIN = 4
/** The extension id-fido-gen-ce-aaguid (1.3.6.1.4.1.45724.1.1.4) up to its value: two octet strings around 16 bytes. */
const AAGUID_EXTENSION = Buffer.from('060b2b0601040182e51c01010404120410', 'hex')

/**
 * @param attestation of a registration whose signature holds
 * @param aaguid model that the authenticator claims to be
 * @param roots certificates in PEM
 * @returns fingerprint of the root that vouches for the model; null for no attestation, self attestation, and any other one
 */
export function attestingRoot(
  attestation: ReturnType<typeof decodeAttestationObject>,
  aaguid: string,
  roots: readonly string[],
): string | null {
  const x5c = attestation.get('fmt') === 'packed' ? attestation.get('attStmt').get('x5c') : undefined
  if (!x5c || x5c.length === 0 || x5c.length > MAX_CHAIN) return null
  const chain = x5c.map((der) => new X509Certificate(der))
  const named = Buffer.concat([AAGUID_EXTENSION, Buffer.from(aaguid.replaceAll('-', ''), 'hex')])
  if (!chain[0]!.raw.includes(named)) return null
  const isChained = chain.slice(1).every((issuer, index) => isIssuedBy(chain[index]!, issuer))
  if (!isChained || !chain.every(isValidNow)) return null
  const last = chain.at(-1)!
  const root = roots
    .map((pem) => new X509Certificate(pem))
    .find((one) => isValidNow(one) && (isIssuedBy(last, one) || last.fingerprint256 === one.fingerprint256))
  return root?.fingerprint256 ?? null
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
}

function isValidNow({ validFrom, validTo }: X509Certificate): boolean {
  const now = Date.now()
  return Date.parse(validFrom) <= now && now <= Date.parse(validTo)
}
