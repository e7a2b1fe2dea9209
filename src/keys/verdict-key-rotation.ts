/**
 * Makes and rotates the keys that sign public verdicts. A rotation publishes the next key at once. It signs two hours later, when every
 * verifier that keeps keys for less time than that has read it; the key before stays published for 49 hours after its last signature.
 * A key that may be known to someone else is removed at once instead.
 */

import type { AuditLog } from '../audit/audit-log.js'
import { type Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import { prefixedId } from '../crypto/identifiers.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import { newVerdictKey } from '../crypto/verdict-signer.js'
import { type Clock, HOUR_MS, isoTime } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { VerdictKeyRecord } from '../storage/records.js'
import type { Store } from '../storage/store.js'
import { isGone, sealVerdictKey } from './verdict-key-ring.js'

export const ENVIRONMENTS = ['production', 'sandbox'] as const satisfies readonly Environment[]

/** Time between the publication of a key and its first signature: gateways that ignore `Cache-Control` keep keys for up to two hours. */
export const ANNOUNCED_MS = 2 * HOUR_MS
/** Time between a key's last signature and its end: 48 hours, and one more for services whose clocks differ. */
export const RETIRED_KEPT_MS = 49 * HOUR_MS

/** `rotation_under_way`: a key is published and does not sign yet. */
export class VerdictKeyError extends CodedError<'rotation_under_way'> {
  override readonly name = 'VerdictKeyError'
}

export interface VerdictKeyRotationParts {
  store: Store
  audit: AuditLog
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
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
    if (lacking(await store.read.verdictKeys()).length === 0) return
    await store.transaction('installation', async (tx) => {
      for (const environment of lacking(await tx.verdictKeys()))
        await tx.insertVerdictKey(this.newKey(environment, { delayMs: 0 }))
    })
  }

  /**
   * Publishes the next key of an environment, and sets the end of the present one.
   * @param isEmergency removes all present keys, and lets the new one sign at once: verdicts under the removed keys are refused
   * @throws VerdictKeyError rotation_under_way
   */
  rotate(environment: Environment, actor: Actor, { isEmergency = false } = {}): Promise<VerdictKeyRecord> {
    const next = this.newKey(environment, { delayMs: isEmergency ? 0 : ANNOUNCED_MS })
    return this.audited.runForAll(actor, async (tx) => {
      const present = (await tx.verdictKeys()).filter(
        (record) => record.environment === environment && !isGone(record, next.publishedAt),
      )
      if (isEmergency) await tx.deleteVerdictKeys(environment)
      else {
        assertNonePublished(present, next.publishedAt)
        for (const { id, goneAt } of present)
          if (goneAt === null) await tx.setVerdictKeyEnd(id, next.signsFrom + RETIRED_KEPT_MS)
      }
      await tx.insertVerdictKey(next)
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

  private newKey(environment: Environment, { delayMs }: { delayMs: number }): VerdictKeyRecord {
    const { clock, keys } = this.parts
    const publishedAt = clock.now()
    const id = prefixedId('vky', publishedAt)
    const sealed = sealVerdictKey(keys.secrets, id, { environment, jwk: newVerdictKey() })
    return { id, environment, sealed, publishedAt, signsFrom: publishedAt + delayMs, goneAt: null }
  }
}

/** @throws VerdictKeyError rotation_under_way */
function assertNonePublished(records: readonly VerdictKeyRecord[], now: number): void {
  const published = records.find(({ signsFrom }) => signsFrom > now)
  if (published)
    throw new VerdictKeyError(
      'rotation_under_way',
      `A rotation is in progress: the key ${published.id} is published and signs from ${isoTime(published.signsFrom)}. ` +
        'To remove a key that may be known to someone else, use an emergency rotation.',
    )
}
