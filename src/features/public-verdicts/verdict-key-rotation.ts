/**
 * Makes and rotates the keys that sign public verdicts. A rotation publishes the next key at once. It signs two hours later, when every
 * verifier that keeps keys for less time than that has read it; the key before stays published for 49 hours after its last signature.
 * A key that may be known to someone else is removed at once instead.
 */

import type { AuditLog } from '../../audit/audit-log.js'
import { type Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import { prefixedId } from '../../crypto/identifiers.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, HOUR_MS, isoTime } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import type { Store } from '../../storage/store.js'
import type { ExternalSigner } from './external-signer.js'
import { isGone } from './signing-keys.js'
import { openVerdictKey, sealVerdictKey, type VerdictKeyContent } from './verdict-key-ring.js'
import { type VerdictKeyRecord, verdictKeyReader, verdictKeyWriter } from './verdict-key-table.js'
import { newVerdictKey } from './verdict-signer.js'

export const ENVIRONMENTS = ['production', 'sandbox'] as const satisfies readonly Environment[]

/** Time between the publication of a key and its first signature: gateways that ignore `Cache-Control` keep keys for up to two hours. */
export const ANNOUNCED_MS = 2 * HOUR_MS
/** Time between a key's last signature and its end: 48 hours, and one more for services whose clocks differ. */
export const RETIRED_KEPT_MS = 49 * HOUR_MS

/** Time after a key's last signature for which its private half is kept, for services whose clocks are behind. */
const PRIVATE_HALF_KEPT_MS = HOUR_MS

/** `verdict_key_waits`: a key is published and does not sign yet. */
export class VerdictKeyError extends CodedError<'verdict_key_waits'> {}

export interface VerdictKeyRotationParts {
  store: Store
  audit: AuditLog
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
  /** The program that holds new keys; null where the database holds them, sealed. */
  external: ExternalSigner | null
}

export class VerdictKeyRotation {
  private readonly audited: AuditedUnitOfWork

  constructor(private readonly parts: VerdictKeyRotationParts) {
    this.audited = new AuditedUnitOfWork(parts.store, parts.audit)
  }

  /** Makes the first key of each environment that has none. Does nothing where another service has made it. */
  async ensure(): Promise<void> {
    const { store } = this.parts
    const lacking = (records: VerdictKeyRecord[]) =>
      ENVIRONMENTS.filter((environment) => !records.some((record) => record.environment === environment))
    if (lacking(await store.read.statements(verdictKeyReader).all()).length === 0) return
    const made = await Promise.all(
      ENVIRONMENTS.map((environment) => this.newKey(environment, { delayMs: 0 })),
    )
    await store.transaction('installation', async (tx) => {
      const table = tx.statements(verdictKeyWriter)
      const missing = lacking(await table.all())
      for (const key of made) if (missing.includes(key.environment)) await table.insert(key)
    })
  }

  /**
   * Publishes the next key of each environment, and sets the end of the present one.
   * @param isEmergency removes all present keys, and lets the new one sign at once: verdicts under the removed keys are refused
   * @returns the next keys
   * @throws VerdictKeyError verdict_key_waits
   */
  async rotate(
    environments: readonly Environment[],
    actor: Actor,
    { isEmergency = false } = {},
  ): Promise<VerdictKeyRecord[]> {
    const made: VerdictKeyRecord[] = []
    for (const environment of environments) made.push(await this.rotateOne(environment, actor, isEmergency))
    return made
  }

  private async rotateOne(
    environment: Environment,
    actor: Actor,
    isEmergency: boolean,
  ): Promise<VerdictKeyRecord> {
    const made = await this.newKey(environment, { delayMs: isEmergency ? 0 : ANNOUNCED_MS })
    return this.audited.runForAll(actor, async (tx) => {
      const table = tx.statements(verdictKeyWriter)
      const all = (await table.all()).filter((record) => record.environment === environment)
      const present = all.filter((record) => !isGone(record, made.publishedAt))
      // The first key of an environment follows on none, and signs at once.
      const next = present.length === 0 ? { ...made, signsFrom: made.publishedAt } : made
      if (isEmergency) for (const { id } of all) await tx.deleteSealed('verdict_key', id)
      else {
        assertNoneWaits(present, next.publishedAt)
        for (const { id, goneAt } of present)
          if (goneAt === null) await table.setEnd(id, next.signsFrom + RETIRED_KEPT_MS)
      }
      await table.insert(next)
      return {
        result: next,
        facts: {
          event: 'verdict_key_rotated',
          environment,
          kid: next.id,
          signs_from: isoTime(next.signsFrom),
          emergency: isEmergency,
        },
      }
    })
  }

  /**
   * Erases the private halves of keys that stopped signing an hour ago or more: a later copy of the database signs nothing with them.
   * @returns ids of the keys
   */
  async erasePrivateHalves(): Promise<string[]> {
    const { store, keys, external } = this.parts
    const erased: string[] = []
    for (const record of this.longRetired(await store.read.statements(verdictKeyReader).all())) {
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

  private longRetired(records: readonly VerdictKeyRecord[]): VerdictKeyRecord[] {
    const until = this.parts.clock.now() - PRIVATE_HALF_KEPT_MS
    return records.filter((record) => {
      const retiredAt = retirementOf(record, records)
      return retiredAt !== null && retiredAt <= until
    })
  }

  private async newKey(
    environment: Environment,
    { delayMs }: { delayMs: number },
  ): Promise<VerdictKeyRecord> {
    const { clock, keys, external } = this.parts
    const publishedAt = clock.now()
    const id = prefixedId('vky', publishedAt)
    const content: VerdictKeyContent = external
      ? { environment, jwk: await external.make(id), isExternal: true }
      : { environment, jwk: newVerdictKey() }
    const sealed = sealVerdictKey(keys.secrets, id, content)
    return { id, environment, sealed, publishedAt, signsFrom: publishedAt + delayMs, goneAt: null }
  }
}

/** When the next key of the environment takes over; null where there is none. */
function retirementOf(
  { environment, signsFrom }: VerdictKeyRecord,
  records: readonly VerdictKeyRecord[],
): number | null {
  const later = records.filter((one) => one.environment === environment && one.signsFrom > signsFrom)
  return later.length === 0 ? null : Math.min(...later.map((one) => one.signsFrom))
}

/** @throws VerdictKeyError verdict_key_waits */
function assertNoneWaits(records: readonly VerdictKeyRecord[], now: number): void {
  const waiting = records.find(({ signsFrom }) => signsFrom > now)
  if (waiting)
    throw new VerdictKeyError(
      'verdict_key_waits',
      `A rotation is in progress: the ${waiting.environment} key ${waiting.id} is published and signs from ${isoTime(waiting.signsFrom)}.`,
    )
}
