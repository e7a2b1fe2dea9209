/** Makes and rotates the keys that sign public verdicts. */
import type { Environment } from '../../config/config.js'
import { prefixedId } from '../../crypto/identifiers.js'
import { HOUR_MS } from '../../lib/clock.js'
import type { ExternalSigner } from './external-signer.js'
import { type SigningKeyParts, SigningKeyRotation } from './signing-key-rotation.js'
import { type SigningKeyRecord, VERDICT_KEYS } from './signing-key-table.js'
import { openVerdictKey, sealVerdictKey, type VerdictKeyContent } from './verdict-key-ring.js'
import { newVerdictKey } from './verdict-signer.js'

export const ENVIRONMENTS = ['production', 'sandbox'] as const satisfies readonly Environment[]

/** Time between the publication of a key and its first signature: gateways that ignore `Cache-Control` keep keys for up to two hours. */
export const ANNOUNCED_MS = 2 * HOUR_MS
/** Time between a key's last signature and its end: 48 hours, and one more for services whose clocks differ. */
export const RETIRED_KEPT_MS = 49 * HOUR_MS

/** Time after a key's last signature for which its private half is kept, for services whose clocks are behind. */
const PRIVATE_HALF_KEPT_MS = HOUR_MS

interface VerdictKeyRotationParts extends SigningKeyParts {
  /** The program that holds new keys; null where the database holds them, sealed. */
  external: ExternalSigner | null
}

export class VerdictKeyRotation extends SigningKeyRotation<VerdictKeyRotationParts> {
  constructor(parts: VerdictKeyRotationParts) {
    super(parts, {
      table: VERDICT_KEYS,
      event: 'verdict_key_rotated',
      waits: 'verdict_key_waits',
      announcedMs: ANNOUNCED_MS,
      retiredKeptMs: RETIRED_KEPT_MS,
    })
  }

  /** Makes the first key of each environment that has none. Does nothing where another service has made it. */
  async ensure(): Promise<void> {
    const { store } = this.parts
    const lacking = (records: SigningKeyRecord[]) =>
      ENVIRONMENTS.filter((environment) => !records.some((record) => record.environment === environment))
    if (lacking(await store.read.statements(VERDICT_KEYS.reader).all()).length === 0) return
    const made = await Promise.all(ENVIRONMENTS.map((environment) => this.newKey(environment)))
    await store.transaction('installation', async (tx) => {
      const table = tx.statements(VERDICT_KEYS.writer)
      const missing = lacking(await table.all())
      for (const key of made) if (missing.includes(key.environment)) await table.insert(key)
    })
  }

  /**
   * Erases the private halves of keys that stopped signing an hour ago or more: a later copy of the database signs nothing with them.
   * @returns ids of the keys
   */
  async erasePrivateHalves(): Promise<string[]> {
    const { store, keys, external } = this.parts
    const erased: string[] = []
    for (const record of this.longRetired(await store.read.statements(VERDICT_KEYS.reader).all())) {
      const { environment, id } = record
      const { jwk, isExternal } = openVerdictKey(keys.secrets, record)
      if (isExternal ? external === null : jwk.d === undefined) continue
      if (isExternal) await external!.forget(id)
      const { kty, crv, x, y } = jwk
      const sealed = sealVerdictKey(keys.secrets, id, { environment, jwk: { kty, crv, x, y } })
      await store.transaction('installation', (tx) => tx.putSealed('verdict_key', { id, sealed }))
      erased.push(id)
    }
    return erased
  }

  private longRetired(records: readonly SigningKeyRecord[]): SigningKeyRecord[] {
    const until = this.parts.clock.now() - PRIVATE_HALF_KEPT_MS
    return records.filter((record) => {
      const retiredAt = retirementOf(record, records)
      return retiredAt !== null && retiredAt <= until
    })
  }

  protected async newKey(environment: Environment): Promise<SigningKeyRecord> {
    const { clock, keys, external } = this.parts
    const publishedAt = clock.now()
    const id = prefixedId('vky', publishedAt)
    const content: VerdictKeyContent = external
      ? { environment, jwk: await external.make(id), isExternal: true }
      : { environment, jwk: newVerdictKey() }
    const sealed = sealVerdictKey(keys.secrets, id, content)
    return { id, environment, sealed, publishedAt, signsFrom: publishedAt, goneAt: null }
  }
}

/** When the next key of the environment takes over; null where there is none. */
function retirementOf(
  { environment, signsFrom }: SigningKeyRecord,
  records: readonly SigningKeyRecord[],
): number | null {
  const later = records.filter((one) => one.environment === environment && one.signsFrom > signsFrom)
  return later.length === 0 ? null : Math.min(...later.map((one) => one.signsFrom))
}
