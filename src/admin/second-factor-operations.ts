/** The second factor of people who sign in by a password: a time-based code (TOTP) from an app, and recovery codes. */
import { createHash, randomBytes } from 'node:crypto'
import type { Actor, AuditedUnitOfWork } from '../audit/audited-unit-of-work.js'
import { openWithAny, seal } from '../crypto/sealed-box.js'
import type { ServiceKeys } from '../crypto/service-keys.js'
import type { Clock } from '../lib/clock.js'
import { CodedError } from '../lib/errors.js'
import type { Scope, Store, StoreTransaction } from '../storage/store.js'
import { accounts, accountsIn, personNamed } from './accounts/account-statements.js'
import type { SecondFactorRecord, SessionRecord } from './accounts/account-tables.js'
import { base32, matchingStep, newTotpSecret, totpUri } from './accounts/totp.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

const ISSUER = 'Countersign'
const RECOVERY_CODES = 10
/** 80 random bits need no slow hash. */
const RECOVERY_BYTES = 10

/** HTTP status where the dashboard answers these errors, by code. */
export const SECOND_FACTOR_ERRORS = {
  second_factor_enrolled: 409,
  second_factor_missing: 404,
  second_factor_code_wrong: 400,
  second_factor_owner_not_found: 404,
}

export class SecondFactorError extends CodedError<keyof typeof SECOND_FACTOR_ERRORS> {}

/** The person whose second factor it is; the operator without a name has the id null. */
export interface FactorOwner {
  id: string | null
  /** Id of the person's tenant, or null for an operator. */
  tenantId: string | null
  name: string
}

/** The session in which a person changes their own second factor. */
type OwnSession = Pick<SessionRecord, 'hash' | 'authenticatedAt'>

export class SecondFactorOperations {
  constructor(
    private readonly audited: AuditedUnitOfWork,
    private readonly store: Store,
    private readonly keys: Pick<ServiceKeys, 'secrets'>,
    private readonly clock: Clock,
  ) {}

  /** @returns the time since when this person must enter a code to sign in; null for nobody's and an unconfirmed second factor */
  async inForceSince(owner: FactorOwner): Promise<number | null> {
    return (await accountsIn(this.store.read).secondFactor(idOf(owner)))?.enrolledAt ?? null
  }

  /** @returns the ids of the people who must enter a code to sign in; `operator` for the one without a name */
  async enrolled(): Promise<Set<string>> {
    return new Set((await accountsIn(this.store.read).secondFactors()).filter(isInForce).map(({ id }) => id))
  }

  /**
   * Makes a secret, which is in force once the person has entered a code of it.
   * @returns the secret for typing, and the address for a QR code @throws SecondFactorError second_factor_enrolled
   */
  async begin(owner: FactorOwner): Promise<{ secret: string; uri: string }> {
    const id = idOf(owner)
    const secret = newTotpSecret()
    await this.store.transaction(scopeOf(owner), async (tx) => {
      if (isInForce(await accounts(tx).secondFactor(id)))
        throw new SecondFactorError(
          'second_factor_enrolled',
          'There is a second factor already: remove it first, then add another.',
        )
      const sealed = seal(this.keys.secrets.current, secret, id)
      await accounts(tx).putSecondFactor({ id, sealed, recovery: '[]', lastStep: null, enrolledAt: null })
    })
    return { secret: base32(secret), uri: totpUri(secret, ISSUER, owner.name) }
  }

  /**
   * Puts the second factor in force, and ends the person's other sessions, which have not met it.
   * @param session the one that stays @returns recovery codes, shown only now, each of which can be used once
   * @throws SecondFactorError second_factor_missing, second_factor_enrolled, second_factor_code_wrong
   */
  confirm(owner: FactorOwner, code: string, session: OwnSession, actor: Actor): Promise<string[]> {
    return this.audited.runFor(owner.tenantId, actor, async (tx) => {
      const record = await accounts(tx).secondFactor(idOf(owner))
      if (!record)
        throw new SecondFactorError('second_factor_missing', 'No second factor is being added: begin again.')
      if (isInForce(record))
        throw new SecondFactorError('second_factor_enrolled', 'The second factor is in force already.')
      const step = this.step(record, code)
      if (step === null)
        throw new SecondFactorError(
          'second_factor_code_wrong',
          'The code does not match: check that the clocks of the phone and of the service are right.',
        )
      const codes = Array.from({ length: RECOVERY_CODES }, newRecoveryCode)
      const recovery = JSON.stringify(codes.map(hashOf))
      const enrolledAt = this.clock.now()
      await accounts(tx).putSecondFactor({ ...record, recovery, lastStep: step, enrolledAt })
      await accounts(tx).deletePersonSessions(owner.id, session.hash)
      await accounts(tx).setSessionAuthenticated({ ...session, secondFactorAt: enrolledAt })
      return { result: codes, facts: { event: 'second_factor_added', name: owner.name } }
    })
  }

  /**
   * Removes the second factor, so that the password is enough to sign in, and ends the person's other sessions. The caller has used up a code.
   * @param session hash of the session that stays @throws SecondFactorError second_factor_missing
   */
  remove(owner: FactorOwner, session: Buffer, actor: Actor): Promise<void> {
    return this.audited.runFor(owner.tenantId, actor, (tx) => remove(tx, owner, session))
  }

  /**
   * Removes the second factor of a named person, and ends the person's sessions. @param name name of the person, or `operator` for the operator without a name
   * @param tenantId the tenant to which the person belongs; null for an operator
   * @throws SecondFactorError second_factor_missing, second_factor_owner_not_found
   */
  reset(name: string, actor: Actor, tenantId: string | null = null): Promise<void> {
    return this.audited.runFor(tenantId, actor, async (tx) => {
      if (tenantId === null && name === UNNAMED_OPERATOR) return remove(tx, { id: null, tenantId, name })
      const refusal = (text: string) => new SecondFactorError('second_factor_owner_not_found', text)
      const owner = await personNamed(tx, name, tenantId, refusal)
      return remove(tx, owner)
    })
  }

  /** Uses up a code or a recovery code, in one transaction. @returns false for a wrong code, and for one that was used before */
  use(owner: FactorOwner, code: string): Promise<boolean> {
    const typed = code.replaceAll(/[\s-]/g, '').toUpperCase()
    return this.store.transaction('rows', async (tx) => {
      const record = await accounts(tx).secondFactor(idOf(owner))
      if (!isInForce(record)) return false
      const step = this.step(record, typed)
      // RFC 6238, section 5.2: a code is accepted once, and no code that is older than an accepted one.
      if (step !== null && step > (record.lastStep ?? 0))
        return accounts(tx).noteSecondFactorUse(record, { ...record, lastStep: step })
      const hashes = JSON.parse(record.recovery) as string[]
      const left = hashes.filter((hash) => hash !== hashOf(typed))
      if (left.length === hashes.length) return false
      return accounts(tx).noteSecondFactorUse(record, { ...record, recovery: JSON.stringify(left) })
    })
  }

  private step({ id, sealed }: SecondFactorRecord, code: string): number | null {
    return matchingStep(openWithAny(this.keys.secrets, sealed, id), code.trim(), this.clock.now())
  }
}

async function remove(tx: StoreTransaction, owner: FactorOwner, session?: Buffer) {
  if (!(await accounts(tx).secondFactor(idOf(owner))))
    throw new SecondFactorError('second_factor_missing', `${owner.name} has no second factor.`)
  await accounts(tx).deleteSecondFactor(idOf(owner))
  await accounts(tx).deletePersonSessions(owner.id, session)
  return { result: undefined, facts: { event: 'second_factor_removed', name: owner.name } as const }
}

function isInForce(
  record: SecondFactorRecord | undefined,
): record is SecondFactorRecord & { enrolledAt: number } {
  return record !== undefined && record.enrolledAt !== null
}

/** An operator needs no more than `rows`: confirming and removing a second factor have the scope `installation`, which excludes this one. */
function scopeOf({ tenantId }: FactorOwner): Scope {
  return tenantId === null ? 'rows' : { tenantId }
}

function idOf({ id }: FactorOwner): string {
  return id ?? UNNAMED_OPERATOR
}

/** A new random recovery code, for example `ABCD-EFGH-IJKL-MNOP`. */
function newRecoveryCode(): string {
  return base32(randomBytes(RECOVERY_BYTES)).match(/.{4}/g)!.join('-')
}

function hashOf(code: string): string {
  return createHash('sha256').update(code.replaceAll('-', '')).digest('base64url')
}
