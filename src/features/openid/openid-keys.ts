/** The keys that sign ID tokens of the OpenID provider: RS256, which every relying party knows (OpenID Connect Core, section 15.1). */
import { createHash, createPrivateKey, generateKeyPair, type JsonWebKey } from 'node:crypto'
import { promisify } from 'node:util'
import type { Environment } from '../../config/config.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { openWithAny, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, DAY_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import { isGone, type SigningKeyRecord, signingKeyId } from '../public-verdicts/exports.js'
import { OPENID_KEYS } from './openid-tables.js'
import { selfSignedCertificate } from './self-signed-certificate.js'

/** A private key as the provider takes it. */
export interface OpenIdJwk extends JsonWebKey {
  kid: string
  alg: 'RS256'
  use: 'sig'
  /** A self-signed certificate of the key, as DER in base64: Entra ID reads keys only from there. */
  x5c: [string]
}

const MODULUS_BITS = 2048
/** A certificate outlives its key, which ends when the next one has taken over. */
const CERTIFICATE_MS = 3650 * DAY_MS
const SERIAL_BYTES = 16

export class OpenIdKeys {
  private opened = new Map<string, { sealed: Buffer; jwk: OpenIdJwk }>()

  constructor(
    private readonly store: Store,
    readonly keys: Pick<ServiceKeys, 'secrets'>,
    readonly clock: Clock,
  ) {}

  /** The keys of an environment, the one that signs first; all are published. Makes the first key where there is none. */
  async of(environment: Environment): Promise<OpenIdJwk[]> {
    const known = await this.present(environment)
    if (known.length > 0) return known
    const record = await newOpenIdKey(this, environment)
    await this.store.transaction('installation', async (tx) => {
      const table = tx.statements(OPENID_KEYS.writer)
      const others = await table.all()
      // Another service may have made it meanwhile.
      if (!others.some((key) => key.environment === environment)) await table.insert(record)
    })
    return this.present(environment)
  }

  /** Reads the rows each time: a rotation holds at once in every service. */
  private async present(environment: Environment): Promise<OpenIdJwk[]> {
    const now = this.clock.now()
    const all = await this.store.read.statements(OPENID_KEYS.reader).all()
    const ids = new Set(all.map(({ id }) => id))
    for (const id of this.opened.keys()) if (!ids.has(id)) this.opened.delete(id)
    const records = all.filter((record) => record.environment === environment && !isGone(record, now))
    const signing = signingKeyId(records, now)
    return records
      .toSorted((one, other) => Number(other.id === signing) - Number(one.id === signing))
      .map((record) => this.jwkOf(record))
  }

  private jwkOf(record: SigningKeyRecord): OpenIdJwk {
    const { id, sealed } = record
    const known = this.opened.get(id)
    if (known?.sealed.equals(sealed)) return known.jwk
    const key = JSON.parse(openWithAny(this.keys.secrets, sealed, id).toString()) as JsonWebKey
    const jwk: OpenIdJwk = { ...key, kid: id, alg: 'RS256', use: 'sig', x5c: [certificateOf(key, record)] }
    this.opened.set(id, { sealed, jwk })
    return jwk
  }
}

/** Makes a key that is published and signs from now on. */
export async function newOpenIdKey(
  { keys, clock }: Pick<OpenIdKeys, 'keys' | 'clock'>,
  environment: Environment,
): Promise<SigningKeyRecord> {
  const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
  const now = clock.now()
  const id = prefixedId('oik', now)
  const content = Buffer.from(JSON.stringify(privateKey.export({ format: 'jwk' })))
  const sealed = seal(keys.secrets.current, content, id)
  return { id, environment, sealed, publishedAt: now, signsFrom: now, goneAt: null }
}

/** Follows from the key and its row, so that every service publishes the same certificate. */
function certificateOf(key: JsonWebKey, { id, publishedAt }: SigningKeyRecord): string {
  const serial = createHash('sha256').update(id).digest().subarray(0, SERIAL_BYTES)
  // A serial number is positive and has no leading zeros.
  serial[0] = (serial[0]! & 0x3f) | 0x40
  const facts = { name: id, serial, notBefore: publishedAt, notAfter: publishedAt + CERTIFICATE_MS }
  return selfSignedCertificate(createPrivateKey({ key, format: 'jwk' }), facts).toString('base64')
}
