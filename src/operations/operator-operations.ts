/** Who operates the installation. What is done to them concerns every tenant, and stands in every log. */
import { type Clock, MINUTE_MS } from '../clock.js'
import { prefixedId, randomBase62 } from '../crypto/identifiers.js'
import { generatePassword, hashPassword } from '../crypto/password-hash.js'
import { CodedError } from '../errors.js'
import type { OperatorRecord, OperatorRole } from '../storage/records.js'
import type { Store, StoreTransaction } from '../storage/store.js'
import { hashToken, linkOf } from '../tenancy/login-link.js'
import type { Actor, AuditedTransactions } from './operation.js'
import { UNNAMED_OPERATOR } from './session-operations.js'

/** How long an operator's link may wait for its one use: the one who makes it opens it. */
export const SIGN_IN_LINK_MS = 10 * MINUTE_MS

const NAME = /^[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}$/
/** How the audit log calls others. */
const RESERVED = new Set(['operator', 'tenant'])

export class OperatorError extends CodedError<
  'invalid_operator_name' | 'operator_exists' | 'operator_not_found' | 'last_admin'
> {
  override readonly name = 'OperatorError'
}

/** Shown once. */
export interface NewPassword {
  operator: OperatorRecord
  password: string
}

export class OperatorOperations {
  constructor(
    private readonly audited: AuditedTransactions,
    private readonly store: Store,
    private readonly clock: Clock,
  ) {}

  /** @throws OperatorError invalid_operator_name, operator_exists */
  async add(name: string, role: OperatorRole, actor: Actor): Promise<NewPassword> {
    if (!NAME.test(name) || RESERVED.has(name))
      throw new OperatorError(
        'invalid_operator_name',
        `"${name}" is not an operator's name: use 1 to 128 letters, digits and . _ @ + -, other than ${[...RESERVED].join(' and ')}.`,
      )
    const { password, passwordHash } = await newPassword()
    return this.audited.runForAll(actor, async (tx) => {
      if (await tx.operatorByName(name))
        throw new OperatorError('operator_exists', `There is an operator named ${name} already.`)
      const createdAt = this.clock.now()
      const operator = {
        id: prefixedId('opr', createdAt),
        name,
        role,
        passwordHash,
        createdAt,
        lastSignInAt: null,
        lastSignInBy: null,
      }
      await tx.putOperator(operator)
      return { result: { operator, password }, facts: { event: 'operator_added', name, role } }
    })
  }

  /** Holds for sessions that are open, too. @throws OperatorError operator_not_found, last_admin */
  setRole(name: string, role: OperatorRole, actor: Actor): Promise<OperatorRecord> {
    return this.audited.runForAll(actor, async (tx) => {
      const before = await found(tx, name)
      if (role !== 'admin') await assertAdminStays(tx, before, actor)
      const operator = { ...before, role }
      await tx.putOperator(operator)
      return { result: operator, facts: { event: 'operator_changed', name, role } }
    })
  }

  /** Another password; sessions with the old one end. @throws OperatorError operator_not_found */
  async resetPassword(name: string, actor: Actor): Promise<NewPassword> {
    const { password, passwordHash } = await newPassword()
    return this.audited.runForAll(actor, async (tx) => {
      const operator = { ...(await found(tx, name)), passwordHash }
      await tx.putOperator(operator)
      await tx.deleteOperatorSessions(operator.id)
      return { result: { operator, password }, facts: { event: 'operator_password_reset', name } }
    })
  }

  /**
   * With the operator's sessions; what they did stays in the logs under their name.
   * @throws OperatorError operator_not_found, last_admin
   */
  remove(name: string, actor: Actor): Promise<OperatorRecord> {
    return this.audited.runForAll(actor, async (tx) => {
      const operator = await found(tx, name)
      await assertAdminStays(tx, operator, actor)
      await tx.deleteOperator(operator.id)
      return { result: operator, facts: { event: 'operator_removed', name } }
    })
  }

  /**
   * A link that signs an operator in once, without a password: for the day when the provider is away.
   * @param name `operator` for the one without a name @param adminUrl of the dashboard, without a slash at its end
   * @throws OperatorError operator_not_found
   */
  createSignInLink(name: string, adminUrl: string, actor: Actor): Promise<string> {
    return this.audited.runForAll(actor, async (tx) => {
      const operatorId = name === UNNAMED_OPERATOR ? null : (await found(tx, name)).id
      const token = randomBase62()
      const now = this.clock.now()
      const link = { hash: hashToken(token), operatorId, expiresAt: now + SIGN_IN_LINK_MS }
      await tx.insertOperatorLink(link, now)
      return { result: linkOf(adminUrl, token), facts: { event: 'operator_link_made', name } }
    })
  }

  list(): Promise<OperatorRecord[]> {
    return this.store.read.operators()
  }

  /** Says that the password of the one without a name was replaced, and deletes the sessions that are bound to the one before. */
  recordPasswordReset(actor: Actor): Promise<void> {
    return this.audited.runForAll(actor, async (tx) => {
      await tx.deleteOperatorSessions(null)
      return { result: undefined, facts: { event: 'operator_password_reset' } }
    })
  }
}

async function found(tx: StoreTransaction, name: string): Promise<OperatorRecord> {
  const operator = await tx.operatorByName(name)
  if (!operator) throw new OperatorError('operator_not_found', `There is no operator named ${name}.`)
  return operator
}

/**
 * Whoever has the operator's password is not counted: it is for the day when nobody else can sign in. Who acts at the command
 * line has the machine, and may go back to that password alone.
 * @throws OperatorError last_admin
 */
async function assertAdminStays(tx: StoreTransaction, leaving: OperatorRecord, actor: Actor): Promise<void> {
  if (actor.requestId === null || leaving.role !== 'admin') return
  const others = (await tx.operators()).filter(({ id }) => id !== leaving.id)
  if (!others.some(({ role }) => role === 'admin'))
    throw new OperatorError(
      'last_admin',
      `${leaving.name} is the last operator with a name who is an admin: make another one admin first.`,
    )
}

/** Before the transaction, which must not wait for it. */
async function newPassword() {
  const password = generatePassword()
  return { password, passwordHash: await hashPassword(password) }
}
