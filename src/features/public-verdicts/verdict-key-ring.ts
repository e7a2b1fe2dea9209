/** The keys that sign the public verdicts of each environment, as one process has them in memory. All services follow the same rows. */

import type { Environment } from '../../config/config.js'
import { openWithAny, type SealingKey, seal } from '../../crypto/sealed-box.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import type { Clock } from '../../lib/clock.js'
import { StoreUnavailableError } from '../../storage/store.js'
import { type ExternalSigner, ExternalVerdictSigner } from './external-signer.js'
import type { SigningKeyRecord } from './signing-key-table.js'
import { isGone, signingKeyId } from './signing-keys.js'
import { LocalVerdictSigner, type PrivateJwk, type PublicJwk, type VerdictSigner } from './verdict-signer.js'

/** A row's sealed content. The environment is sealed with the key, so that a row that was moved to the other one does not open. */
export interface VerdictKeyContent {
  environment: Environment
  /** The key has `d` as long as it may sign, and none once it has retired. */
  jwk: PublicJwk & Partial<Pick<PrivateJwk, 'd'>>
  /** Whether the program of `COUNTERSIGN_VERDICT_SIGNER` holds the private half. */
  isExternal?: true
}

export interface PublishedKey extends PublicJwk {
  kid: string
  use: 'sig'
  alg: 'ES256'
}

interface OpenedKey {
  record: SigningKeyRecord
  publicJwk: PublicJwk
  /** Null for a key whose private half was erased, and for one of a program that is not configured. */
  signer: VerdictSigner | null
  /** Whether the private half was erased. */
  isRetired: boolean
}

export class VerdictKeyRing {
  private opened = new Map<string, OpenedKey>()

  constructor(
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly clock: Clock,
    /** Null where no program is configured: keys that one holds then sign nothing. */
    private readonly external: ExternalSigner | null = null,
  ) {}

  /** Takes over the rows of the database. @throws UnopenedBoxError where a row opens with none of the working keys */
  replace(records: readonly SigningKeyRecord[]): void {
    this.opened = new Map(records.map((record) => [record.id, this.openedOf(record)]))
  }

  /** The key that signs now. @throws StoreUnavailableError where the environment has none that could sign */
  signer(environment: Environment): VerdictSigner {
    // After the clock was set back a key may be due whose private half is gone: the next one signs instead.
    const keys = this.keysOf(environment).filter(({ isRetired }) => !isRetired)
    const id = signingKeyId(
      keys.map(({ record }) => record),
      this.clock.now(),
    )
    const signer = keys.find(({ record }) => record.id === id)?.signer
    if (!signer)
      throw new StoreUnavailableError(`the ${environment} environment has no key that signs verdicts`)
    return signer
  }

  /** The public keys that a verifier may accept now, in the order in which they begin to sign. */
  published(environment: Environment): PublishedKey[] {
    return this.keysOf(environment).map(({ record, publicJwk }) => ({
      ...publicJwk,
      kid: record.id,
      use: 'sig',
      alg: 'ES256',
    }))
  }

  private keysOf(environment: Environment): OpenedKey[] {
    const now = this.clock.now()
    return [...this.opened.values()].filter(
      ({ record }) => record.environment === environment && !isGone(record, now),
    )
  }

  private openedOf(record: SigningKeyRecord): OpenedKey {
    const known = this.opened.get(record.id)
    if (known?.record.sealed.equals(record.sealed) && known.record.environment === record.environment)
      return { ...known, record }
    const content = openVerdictKey(this.keys.secrets, record)
    const { kty, crv, x, y } = content.jwk
    const publicJwk = { kty, crv, x, y }
    const isRetired = !content.isExternal && content.jwk.d === undefined
    return { record, publicJwk, signer: this.signerOf(record.id, publicJwk, content), isRetired }
  }

  private signerOf(
    id: string,
    publicJwk: PublicJwk,
    { jwk, isExternal }: VerdictKeyContent,
  ): VerdictSigner | null {
    if (isExternal) return this.external && new ExternalVerdictSigner(id, publicJwk, this.external)
    return jwk.d === undefined ? null : new LocalVerdictSigner(id, { ...publicJwk, d: jwk.d })
  }
}

export function sealVerdictKey(secrets: SealingKey, id: string, content: VerdictKeyContent): Buffer {
  return seal(secrets.current, Buffer.from(JSON.stringify(content)), id)
}

/** @throws UnopenedBoxError; Error where the row was moved to another environment */
export function openVerdictKey(
  secrets: SealingKey,
  { id, environment, sealed }: Pick<SigningKeyRecord, 'id' | 'environment' | 'sealed'>,
): VerdictKeyContent {
  const content = JSON.parse(openWithAny(secrets, sealed, id).toString()) as VerdictKeyContent
  if (content.environment !== environment)
    throw new Error(`the verdict key ${id} was made for the other environment`)
  return content
}
