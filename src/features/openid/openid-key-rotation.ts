/**
 * Rotates the keys of the OpenID provider. A rotation publishes the next key at once. It signs two days later, when every relying party
 * has read it: Entra ID reads keys once a day. The key before stays published for 25 hours after its last signature.
 */
import type { AuditLog } from '../../audit/audit-log.js'
import { type Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, DAY_MS, HOUR_MS, isoTime } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import type { Store } from '../../storage/store.js'
import { isGone } from '../public-verdicts/exports.js'
import { newOpenIdKey } from './openid-keys.js'
import { type OpenIdKeyRecord, openIdKeyWriter } from './openid-tables.js'

/** Time between the publication of a key and its first signature, as Microsoft's reference of external methods asks for. */
export const OPENID_ANNOUNCED_MS = 2 * DAY_MS
/** Time between a key's last signature and its end: ID tokens live for minutes, but a relying party may check a stored one. */
export const OPENID_RETIRED_KEPT_MS = 25 * HOUR_MS

/** `openid_key_waits`: a key is published and does not sign yet. */
class OpenIdKeyError extends CodedError<'openid_key_waits'> {}

interface OpenIdKeyRotationParts {
  store: Store
  audit: AuditLog
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
}

export class OpenIdKeyRotation {
  private readonly audited: AuditedUnitOfWork

  constructor(private readonly parts: OpenIdKeyRotationParts) {
    this.audited = new AuditedUnitOfWork(parts.store, parts.audit)
  }

  /**
   * Publishes the next key of each environment, and sets the end of the present one.
   * @param isEmergency removes all present keys, and lets the new one sign at once: ID tokens under the removed keys are refused
   * @throws OpenIdKeyError openid_key_waits
   */
  async rotate(
    environments: readonly Environment[],
    actor: Actor,
    { isEmergency = false } = {},
  ): Promise<void> {
    for (const environment of environments) await this.rotateOne(environment, actor, isEmergency)
  }

  private async rotateOne(environment: Environment, actor: Actor, isEmergency: boolean): Promise<void> {
    const { clock, keys } = this.parts
    const now = clock.now()
    const made = await newOpenIdKey(keys, environment, {
      publishedAt: now,
      signsFrom: isEmergency ? now : now + OPENID_ANNOUNCED_MS,
    })
    await this.audited.runForAll(actor, async (tx) => {
      const table = tx.statements(openIdKeyWriter)
      const present = (await table.all()).filter(
        (key) => key.environment === environment && !isGone(key, now),
      )
      // The first key of an environment follows on none, and signs at once.
      const next = present.length === 0 ? { ...made, signsFrom: now } : made
      if (isEmergency) await table.deleteOf(environment)
      else {
        assertNoneWaits(present, now)
        for (const { id, goneAt } of present)
          if (goneAt === null) await table.setEnd(id, next.signsFrom + OPENID_RETIRED_KEPT_MS)
      }
      await table.insert(next)
      return {
        result: undefined,
        facts: {
          event: 'openid_key_rotated',
          environment,
          kid: next.id,
          signs_from: isoTime(next.signsFrom),
          emergency: isEmergency,
        },
      }
    })
  }
}

/** @throws OpenIdKeyError openid_key_waits */
function assertNoneWaits(records: readonly OpenIdKeyRecord[], now: number): void {
  const waiting = records.find(({ signsFrom }) => signsFrom > now)
  if (waiting)
    throw new OpenIdKeyError(
      'openid_key_waits',
      `A rotation is in progress: the ${waiting.environment} key ${waiting.id} is published and signs from ${isoTime(waiting.signsFrom)}.`,
    )
}
