/**
 * A self-signed X.509 certificate around an RSA key (RFC 5280), for relying parties that read keys only from `x5c` of a JWK (RFC 7517,
 * section 4.7). The same key, number and times give the same bytes, so that several services publish one certificate without keeping it.
 */
import { createPublicKey, type KeyObject, sign } from 'node:crypto'

export interface CertificateFacts {
  /** Common name of subject and issuer, in ASCII. */
  name: string
  /** Serial number: 1 to 19 bytes, of which the first is between 0x01 and 0x7f (RFC 5280, section 4.1.2.2). */
  serial: Buffer
  /** Milliseconds since the Unix epoch. */
  notBefore: number
  notAfter: number
}

/** Tags of ASN.1 (X.690). */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  objectId: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  version: 0xa0,
  extensions: 0xa3,
}
const SHA256_WITH_RSA = Buffer.from('2a864886f70d01010b', 'hex')
const COMMON_NAME = Buffer.from('550403', 'hex')
const KEY_USAGE = Buffer.from('551d0f', 'hex')
/** Key usage `digitalSignature`: one bit is set, seven are unused. */
const DIGITAL_SIGNATURE = Buffer.from('03020780', 'hex')
/** Times from this year on need four digits for the year (RFC 5280, section 4.1.2.5). */
const FIRST_LONG_YEAR = 2050

/** @param privateKey RSA @returns the certificate as DER */
export function selfSignedCertificate(privateKey: KeyObject, facts: CertificateFacts): Buffer {
  const algorithm = sequence(value(TAG.objectId, SHA256_WITH_RSA), value(TAG.null))
  const name = nameOf(facts.name)
  const content = sequence(
    value(TAG.version, value(TAG.integer, Buffer.of(2))),
    value(TAG.integer, facts.serial),
    algorithm,
    name,
    sequence(time(facts.notBefore), time(facts.notAfter)),
    name,
    createPublicKey(privateKey).export({ type: 'spki', format: 'der' }),
    value(TAG.extensions, sequence(keyUsage())),
  )
  const signature = sign('sha256', content, privateKey)
  return sequence(content, algorithm, value(TAG.bitString, Buffer.concat([Buffer.of(0), signature])))
}

function nameOf(commonName: string): Buffer {
  const attribute = sequence(value(TAG.objectId, COMMON_NAME), value(TAG.utf8String, Buffer.from(commonName)))
  return sequence(value(TAG.set, attribute))
}

function keyUsage(): Buffer {
  const isCritical = value(TAG.boolean, Buffer.of(0xff))
  return sequence(value(TAG.objectId, KEY_USAGE), isCritical, value(TAG.octetString, DIGITAL_SIGNATURE))
}

function time(at: number): Buffer {
  const date = new Date(at)
  const digits = `${date.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return date.getUTCFullYear() < FIRST_LONG_YEAR
    ? value(TAG.utcTime, Buffer.from(digits.slice(2)))
    : value(TAG.generalizedTime, Buffer.from(digits))
}

function sequence(...parts: Buffer[]): Buffer {
  return value(TAG.sequence, Buffer.concat(parts))
}

function value(tag: number, content: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

function lengthOf(bytes: number): Buffer {
  if (bytes < 0x80) return Buffer.of(bytes)
  const digits = bytes < 0x100 ? [bytes] : [bytes >> 8, bytes & 0xff]
  return Buffer.of(0x80 | digits.length, ...digits)
}
