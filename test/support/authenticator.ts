/** An authenticator in software: it makes ES256 credentials and signs with them as WebAuthn prescribes, or breaks one rule on demand. */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'

/** The claims of the authenticator and its browser. */
interface Claims {
  origin: string
  rpId?: string
  challenge?: string
  /** Origin of the page that shows this one in a frame. */
  topOrigin?: string
  isPresent?: boolean
  isVerified?: boolean
  isSynced?: boolean
  isBackedUp?: boolean
  /** Default: one more than at the last signature. */
  counter?: number
  userHandle?: string
  /** Model that the authenticator claims to be. */
  aaguid?: string
  /** Certificate and key with which the maker of the authenticator attests it, or `self`. Default: no attestation. */
  attestation?: Attestation | 'self'
  /** Signs with another key. */
  signsWrong?: boolean
}

export interface Attestation {
  key: KeyObject
  /** In DER: the authenticator's certificate, then those of its issuers. */
  chain: Buffer[]
}

const FLAGS = { present: 0x01, verified: 0x04, synced: 0x08, backedUp: 0x10, attested: 0x40 }

export class SoftwareAuthenticator {
  readonly id = randomBytes(16).toString('base64url')
  readonly aaguid: string
  counter = 0
  private readonly keys: { privateKey: KeyObject; publicKey: KeyObject }
  private handle = ''

  /** @param claims of every answer */
  constructor(private readonly claims: Claims) {
    this.keys = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    this.aaguid = claims.aaguid ?? '0a1b2c3d-0000-4000-8000-00000000c0de'
  }

  /** Answers `navigator.credentials.create()`. @returns RegistrationResponseJSON */
  // biome-ignore lint/suspicious/noExplicitAny: options as the service sends them
  create(options: any, claims: Partial<Claims> = {}) {
    const all = { rpId: options.rp.id, challenge: options.challenge, ...this.claims, ...claims }
    this.handle = options.user.id
    const credential = Buffer.concat([
      Buffer.from(this.aaguid.replaceAll('-', ''), 'hex'),
      uint16(16),
      Buffer.from(this.id, 'base64url'),
      this.coseKey(),
    ])
    const authData = Buffer.concat([this.authenticatorData(all, FLAGS.attested), credential])
    const clientDataJSON = clientData('webauthn.create', all)
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    return {
      ...this.described(),
      response: {
        clientDataJSON,
        attestationObject: cborMap([
          [text('fmt'), text(all.attestation ? 'packed' : 'none')],
          [text('attStmt'), this.statement(all.attestation, signed)],
          [text('authData'), bytes(authData)],
        ]).toString('base64url'),
        transports: ['internal'],
      },
    }
  }

  /** Answers `navigator.credentials.get()`. @returns AuthenticationResponseJSON */
  // biome-ignore lint/suspicious/noExplicitAny: options as the service sends them
  get(options: any, claims: Partial<Claims> = {}) {
    const all = { rpId: options.rpId, challenge: options.challenge, ...this.claims, ...claims }
    if (claims.counter === undefined) this.counter++
    const authData = this.authenticatorData(all, 0)
    const clientDataJSON = clientData('webauthn.get', all)
    const signed = Buffer.concat([authData, sha256(Buffer.from(clientDataJSON, 'base64url'))])
    return {
      ...this.described(),
      response: {
        clientDataJSON,
        authenticatorData: authData.toString('base64url'),
        signature: sign('sha256', signed, all.signsWrong ? wrongKey() : this.keys.privateKey).toString(
          'base64url',
        ),
        userHandle: all.userHandle ?? this.handle,
      },
    }
  }

  /** The statement of an attestation in the format `packed` (WebAuthn Level 3, section 8.2), or of none. */
  private statement(attestation: Claims['attestation'], signed: Buffer): Buffer {
    if (!attestation) return cborMap([])
    const [key, chain] =
      attestation === 'self' ? [this.keys.privateKey, null] : [attestation.key, attestation.chain]
    return cborMap([
      [text('alg'), number(-7)],
      [text('sig'), bytes(sign('sha256', signed, key))],
      ...(chain ? [[text('x5c'), cborArray(chain.map(bytes))] as [Buffer, Buffer]] : []),
    ])
  }

  private described() {
    return { id: this.id, rawId: this.id, type: 'public-key' as const, clientExtensionResults: {} }
  }

  private authenticatorData(claims: Claims & { rpId: string }, further: number): Buffer {
    const { isPresent = true, isVerified = true, isSynced = false, isBackedUp = false } = claims
    const flags =
      further |
      (isPresent ? FLAGS.present : 0) |
      (isVerified ? FLAGS.verified : 0) |
      (isSynced ? FLAGS.synced : 0) |
      (isBackedUp ? FLAGS.backedUp : 0)
    const counter = Buffer.alloc(4)
    counter.writeUInt32BE(claims.counter ?? this.counter)
    return Buffer.concat([sha256(Buffer.from(claims.rpId)), Buffer.of(flags), counter])
  }

  /** The public key as a COSE key: kty EC2, alg ES256, crv P-256, x, y. */
  private coseKey(): Buffer {
    const { x, y } = this.keys.publicKey.export({ format: 'jwk' })
    return cborMap([
      [number(1), number(2)],
      [number(3), number(-7)],
      [number(-1), number(1)],
      [number(-2), bytes(Buffer.from(x!, 'base64url'))],
      [number(-3), bytes(Buffer.from(y!, 'base64url'))],
    ])
  }
}

function clientData(type: string, { challenge, origin, topOrigin }: Claims): string {
  const crossOrigin = topOrigin !== undefined
  const client = { type, challenge, origin, crossOrigin, ...(crossOrigin ? { topOrigin } : {}) }
  return Buffer.from(JSON.stringify(client)).toString('base64url')
}

function sha256(data: Buffer): Buffer {
  return createHash('sha256').update(data).digest()
}

function uint16(value: number): Buffer {
  const buffer = Buffer.alloc(2)
  buffer.writeUInt16BE(value)
  return buffer
}

// CBOR (RFC 8949): the major types that a credential needs.
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value)
  return value < 256
    ? Buffer.of((major << 5) | 24, value)
    : Buffer.concat([Buffer.of((major << 5) | 25), uint16(value)])
}

function number(value: number): Buffer {
  return value < 0 ? head(1, -1 - value) : head(0, value)
}

function bytes(value: Buffer): Buffer {
  return Buffer.concat([head(2, value.length), value])
}

function text(value: string): Buffer {
  return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)])
}

function cborMap(pairs: Array<[Buffer, Buffer]>): Buffer {
  return Buffer.concat([head(5, pairs.length), ...pairs.flat()])
}

function cborArray(items: Buffer[]): Buffer {
  return Buffer.concat([head(4, items.length), ...items])
}

function wrongKey(): KeyObject {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
}
