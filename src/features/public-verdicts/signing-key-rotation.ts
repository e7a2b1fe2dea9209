/**
 * Rotates keys that are published before they sign. A rotation publishes the next key at once, which signs when everybody who keeps keys has
 * read it; the key before stays published for a while after its last signature. A key that may be known to someone else is removed at once
 * instead.
 */
import type { AuditLog } from '../../audit/audit-log.js'
import { type Actor, AuditedUnitOfWork } from '../../audit/audited-unit-of-work.js'
import type { Environment } from '../../config/config.js'
import type { ServiceKeys } from '../../crypto/service-keys.js'
import { type Clock, isoTime } from '../../lib/clock.js'
import { CodedError } from '../../lib/errors.js'
import type { Store } from '../../storage/store.js'
import type { SigningKeyRecord, SigningKeyTable } from './signing-key-table.js'
import { isGone } from './signing-keys.js'

interface SigningKeyKind {
  table: SigningKeyTable
  event: 'verdict_key_rotated' | 'openid_key_rotated'
  /** Code of the error where a key is published and does not sign yet. */
  waits: 'verdict_key_waits' | 'openid_key_waits'
  /** Time between the publication of a key and its first signature. */
  announcedMs: number
  /** Time between a key's last signature and its end. */
  retiredKeptMs: number
}

export interface SigningKeyParts {
  store: Store
  audit: AuditLog
  keys: Pick<ServiceKeys, 'secrets'>
  clock: Clock
}

class SigningKeyError extends CodedError<SigningKeyKind['waits']> {}

export abstract class SigningKeyRotation<Parts extends SigningKeyParts = SigningKeyParts> {
  private readonly audited: AuditedUnitOfWork

  constructor(
    protected readonly parts: Parts,
    private readonly kind: SigningKeyKind,
  ) {
    this.audited = new AuditedUnitOfWork(parts.store, parts.audit)
  }

  /** Makes a key that is published and signs from now on. It is not stored yet. */
  protected abstract newKey(environment: Environment): Promise<SigningKeyRecord>

  /**
   * Publishes the next key of each environment, and sets the end of the present one.
   * @param isEmergency removes all present keys, and lets the new one sign at once: signatures of the removed keys are refused
   * @returns the next keys
   * @throws CodedError verdict_key_waits, openid_key_waits
   */
  async rotate(
    environments: readonly Environment[],
    actor: Actor,
    { isEmergency = false } = {},
  ): Promise<SigningKeyRecord[]> {
    const made: SigningKeyRecord[] = []
    for (const environment of environments) made.push(await this.rotateOne(environment, actor, isEmergency))
    return made
  }

  private async rotateOne(
    environment: Environment,
    actor: Actor,
    isEmergency: boolean,
  ): Promise<SigningKeyRecord> {
    const { table, event, announcedMs, retiredKeptMs } = this.kind
    const made = await this.newKey(environment)
    const now = made.publishedAt
    return this.audited.runForAll(actor, async (tx) => {
      const rows = tx.statements(table.writer)
      const all = (await rows.all()).filter((record) => record.environment === environment)
      const present = all.filter((record) => !isGone(record, now))
      // The first key of an environment follows on none, and signs at once.
      const signsFrom = isEmergency || present.length === 0 ? now : now + announcedMs
      if (isEmergency) for (const { id } of all) await tx.deleteSealed(table.table.name, id)
      else {
        this.assertNoneWaits(present, now)
        for (const { id, goneAt } of present)
          if (goneAt === null) await rows.setEnd(id, signsFrom + retiredKeptMs)
      }
      const result = { ...made, signsFrom }
      await rows.insert(result)
      const facts = {
        event,
        environment,
        kid: made.id,
        signs_from: isoTime(signsFrom),
        emergency: isEmergency,
      }
      return { result, facts }
    })
  }

  private assertNoneWaits(records: readonly SigningKeyRecord[], now: number): void {
    const waiting = records.find(({ signsFrom }) => signsFrom > now)
    if (waiting)
      throw new SigningKeyError(
        this.kind.waits,
        `A rotation is in progress: the ${waiting.environment} key ${waiting.id} is published and signs from ${isoTime(waiting.signsFrom)}.`,
      )
  }
}
