/** The keys that sign ID tokens of the OpenID provider: RS256, which every relying party knows (OpenID Connect Core, section 15.1). */
import { generateKeyPair, type JsonWebKey } from 'node:crypto'
import { promisify } from 'node:util'
import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import { openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Clock } from '../lib/clock.js'
import type { VerdictKeyRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'

/** A private key as the provider takes it. The first of a set signs; all are published. */
export interface OpenIdJwk extends JsonWebKey {
  kid: string
  alg: 'RS256'
  use: 'sig'
}

const MODULUS_BITS = 2048

export class OpenIdKeys {
  constructor(
    private readonly store: Store,
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly clock: Clock,
  ) {}

  /** The keys of an environment, the one that signs first. Makes the first key where there is none. */
  async of(environment: Environment): Promise<OpenIdJwk[]> {
    const known = await this.present(environment)
    if (known.length > 0) return known
    const record = await this.newKey(environment)
    await this.store.transaction('installation', async (tx) => {
      const others = await tx.openIdKeys()
      // Another service may have made it meanwhile.
      if (!others.some((key) => key.environment === environment)) await tx.insertOpenIdKey(record)
    })
    return this.present(environment)
  }

  private async present(environment: Environment): Promise<OpenIdJwk[]> {
    const now = this.clock.now()
    const records = (await this.store.read.openIdKeys()).filter(
      (record) => record.environment === environment && (record.goneAt === null || record.goneAt > now),
    )
    const signing = records.findLast(({ signsFrom }) => signsFrom <= now) ?? records[0]
    return records
      .toSorted((one, other) => Number(other === signing) - Number(one === signing))
      .map((record) => this.opened(record))
  }

  private opened({ id, sealed }: VerdictKeyRecord): OpenIdJwk {
    const jwk = JSON.parse(openWithAny(this.keys.secrets, sealed, id).toString()) as JsonWebKey
    return { ...jwk, kid: id, alg: 'RS256', use: 'sig' }
  }

  private async newKey(environment: Environment): Promise<VerdictKeyRecord> {
    const { privateKey } = await promisify(generateKeyPair)('rsa', { modulusLength: MODULUS_BITS })
    const now = this.clock.now()
    const id = prefixedId('oik', now)
    const content = Buffer.from(JSON.stringify(privateKey.export({ format: 'jwk' })))
    const sealed = seal(this.keys.secrets.current, content, id)
    return { id, environment, sealed, publishedAt: now, signsFrom: now, goneAt: null }
  }
}
