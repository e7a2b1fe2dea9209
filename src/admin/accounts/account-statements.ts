/** The SQL of the dashboard: its people, sign-ins and sessions. */
import { type Connection, type ReadConnection, reading, writing } from '../../storage/connection.js'
import type { StoreReader, StoreTransaction } from '../../storage/store.js'
import {
  DASHBOARD_SESSION,
  LOGIN_LINK,
  type LoginLinkRecord,
  OPERATOR,
  OPERATOR_LINK,
  PERSON,
  PERSON_LINK,
  type PersonLinkRecord,
  type PersonRecord,
  SECOND_FACTOR,
  type SecondFactorRecord,
  type SessionRecord,
  type SignInMethod,
} from './account-tables.js'

const NO_HASH = Buffer.alloc(0)
/** The fields of a second factor that a use of it changes. */
type FactorUse = 'recovery' | 'lastStep'
/** An operator of the installation, in the shape of a person. */
const OPERATORS = `SELECT ${OPERATOR.fields}, NULL AS "tenantId", 'invited' AS "origin" FROM operator`
const PEOPLE = `SELECT ${PERSON.fields} FROM person`
const OPERATOR_LINK_FIELDS = `${OPERATOR_LINK.fields}, NULL AS "tenantId"`
/** A session with the person and the tenant to whom it belongs. */
const SESSIONS = `SELECT ${Object.entries(DASHBOARD_SESSION.columnOf)
  .filter(([field]) => !['tenantId', 'operatorId', 'tenantPersonId'].includes(field))
  .map(([field, column]) => `one.${column} AS "${field}"`)
  .join(', ')}, coalesce(one.tenant_id, person.tenant_id) AS "tenantId",
  coalesce(one.operator_id, one.person_id) AS "personId"
  FROM dashboard_session AS one LEFT JOIN person ON person.id = one.person_id`

/** @param database of a store or of a transaction */
export function accountReader(database: ReadConnection) {
  const { row, rows, from } = reading(database)
  const operators = rows<[], PersonRecord>(`${OPERATORS} ORDER BY name`)
  const people = rows<[string], PersonRecord>(`${PEOPLE} WHERE tenant_id = ? ORDER BY name`)
  const everyPerson = rows<[], PersonRecord>(`${PEOPLE} ORDER BY name`)
  /** A person of either table. */
  const person = (column: 'name' | 'id') => {
    const [operator, ofTenant] = [OPERATORS, PEOPLE].map((select) =>
      row<[string], PersonRecord>(`${select} WHERE ${column} = ?`),
    )
    return async (value: string) => (await operator!(value)) ?? ofTenant!(value)
  }
  const operatorLink = row<[Buffer, number], PersonLinkRecord>(
    `SELECT ${OPERATOR_LINK_FIELDS} FROM operator_link WHERE hash = ? AND expires_at > ?`,
  )
  const personLink = row<[Buffer, number], PersonLinkRecord>(
    `SELECT ${PERSON_LINK.fields} FROM person_link WHERE hash = ? AND expires_at > ?`,
  )
  return {
    /** People in the order of their names. @param tenantId null for the operators of the installation */
    people: async (tenantId: string | null) => (tenantId === null ? operators() : people(tenantId)),
    /** Operators and people of all tenants. */
    everyone: async () => [...(await operators()), ...(await everyPerson())],
    personByName: person('name'),
    personById: person('id'),
    secondFactor: from(SECOND_FACTOR).row<[id: string]>('WHERE id = ?'),
    secondFactors: from(SECOND_FACTOR).rows<[]>('ORDER BY id'),
    dashboardSession: row<[hash: Buffer, now: number], SessionRecord>(
      `${SESSIONS} WHERE one.hash = ? AND one.expires_at > ?`,
    ),
    /** Sessions that have not ended at `now`, newest first. */
    dashboardSessions: rows<[now: number], SessionRecord>(
      `${SESSIONS} WHERE one.expires_at > ? ORDER BY coalesce(one.created_at, 0) DESC, one.hash`,
    ),
    /** The login link that is valid at `now`. */
    loginLink: from(LOGIN_LINK).row<[hash: Buffer, now: number]>('WHERE hash = ? AND expires_at > ?'),
    personLink: async (hash: Buffer, now: number) => (await operatorLink(hash, now)) ?? personLink(hash, now),
  }
}

export const accountsIn = (read: StoreReader) => read.statements(accountReader)
export const accounts = (tx: StoreTransaction) => tx.statements(accountWriter)

/**
 * The person of a tenant, or the operator where the tenant is null.
 * @param refusal makes the error of a sentence, where nobody has this name there
 */
export async function personNamed(
  tx: StoreTransaction,
  name: string,
  tenantId: string | null,
  refusal: (message: string) => Error,
): Promise<PersonRecord> {
  const person = await accounts(tx).personByName(name)
  if (person?.tenantId === tenantId) return person
  throw refusal(
    tenantId === null
      ? `There is no operator named ${name}.`
      : `Nobody named ${name} signs in for this tenant.`,
  )
}

export function accountWriter(database: Connection) {
  const { row } = reading(database)
  const { changes, hits, insert, put, run } = writing(database)
  /** Writes to the tables of operators and of tenants' people alike. */
  const inBoth = <Given extends unknown[]>(sql: (table: 'operator' | 'person') => string) => {
    const writes = [run<Given>(sql('operator')), run<Given>(sql('person'))]
    return async (...given: Given): Promise<void> => {
      await Promise.all(writes.map((write) => write(...given)))
    }
  }
  const deleteSecondFactor = run<[id: string]>('DELETE FROM second_factor WHERE id = ?')
  const expireLinks = inBoth<[now: number]>((table) => `DELETE FROM ${table}_link WHERE expires_at <= ?`)
  const insertOperatorLink = run<[link: PersonLinkRecord]>(OPERATOR_LINK.insert)
  const insertPersonLink = run<[link: PersonLinkRecord]>(PERSON_LINK.insert)
  const taken = <Link>(table: string, fields: string) =>
    row<[hash: Buffer, now: number], Link>(
      `DELETE FROM ${table} WHERE hash = ? AND expires_at > ? RETURNING ${fields}`,
    )
  const takeOperatorLink = taken<PersonLinkRecord>('operator_link', OPERATOR_LINK_FIELDS)
  const takePersonLink = taken<PersonLinkRecord>('person_link', PERSON_LINK.fields)
  const deletePersonLinks = run<[personId: string]>('DELETE FROM person_link WHERE person_id = ?')
  const insertSession = insert(DASHBOARD_SESSION)
  const putOperator = run<[PersonRecord]>(
    `${OPERATOR.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash`,
  )
  const putPerson = run<[PersonRecord]>(
    `${PERSON.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash, origin = excluded.origin`,
  )
  const deleteRecord = inBoth<[id: string]>((table) => `DELETE FROM ${table} WHERE id = ?`)
  const deleteNamedSessions = changes<[operatorId: string, personId: string, but: Buffer]>(
    'DELETE FROM dashboard_session WHERE (operator_id = ? OR person_id = ?) AND hash <> ?',
  )
  const deleteUnnamedSessions = changes<[but: Buffer]>(
    `DELETE FROM dashboard_session
     WHERE tenant_id IS NULL AND operator_id IS NULL AND person_id IS NULL AND hash <> ?`,
  )
  const deleteTenantSessions = changes<[tenantId: string, ofPeople: string]>(
    'DELETE FROM dashboard_session WHERE tenant_id = ? OR person_id IN (SELECT id FROM person WHERE tenant_id = ?)',
  )
  const deleteTenantLinks = changes<[tenantId: string]>('DELETE FROM login_link WHERE tenant_id = ?')
  const deleteTenantPersonLinks = changes<[tenantId: string]>('DELETE FROM person_link WHERE tenant_id = ?')
  // The comparison with what was read makes one of several uses at once succeed.
  const noteUse = hits<[Pick<SecondFactorRecord, 'id' | FactorUse> & Record<`${FactorUse}Before`, unknown>]>(
    `UPDATE second_factor SET recovery = @recovery, last_step = @lastStep WHERE id = @id
       AND recovery = @recoveryBefore AND last_step IS NOT DISTINCT FROM @lastStepBefore`,
  )
  return {
    ...accountReader(database),
    insertLoginLink: insert(LOGIN_LINK),
    /** Uses up the link. @returns undefined when it is unknown, used or expired */
    takeLoginLink: taken<LoginLinkRecord>('login_link', LOGIN_LINK.fields),
    putSecondFactor: put(SECOND_FACTOR),
    /**
     * Stores that a code was used, unless another transaction has stored a use since `before` was read.
     * @returns whether it was stored
     */
    noteSecondFactorUse: (
      { id, recovery: recoveryBefore, lastStep: lastStepBefore }: SecondFactorRecord,
      { recovery, lastStep }: Pick<SecondFactorRecord, FactorUse>,
    ) => noteUse({ id, recovery, lastStep, recoveryBefore, lastStepBefore }),
    deleteSecondFactor,
    /** Inserts the link, and deletes links that have expired at `now`. */
    insertPersonLink: async (link: PersonLinkRecord, now: number) => {
      const insertLink = link.tenantId === null ? insertOperatorLink : insertPersonLink
      await Promise.all([expireLinks(now), insertLink(link)])
    },
    /** Uses up the link. @returns undefined when it is unknown, used or expired */
    takePersonLink: async (hash: Buffer, now: number) =>
      (await takeOperatorLink(hash, now)) ?? takePersonLink(hash, now),
    insertDashboardSession: ({ tenantId, personId, ...session }: SessionRecord) =>
      insertSession({
        ...session,
        tenantId: personId === null ? tenantId : null,
        operatorId: tenantId === null ? personId : null,
        tenantPersonId: tenantId === null ? null : personId,
      }),
    /** Inserts the person, or replaces the one with the same id. */
    putPerson: (person: PersonRecord) => (person.tenantId === null ? putOperator : putPerson)(person),
    setLastSignIn: inBoth<[at: number, by: SignInMethod, personId: string]>(
      (table) => `UPDATE ${table} SET last_sign_in_at = ?, last_sign_in_by = ? WHERE id = ?`,
    ),
    /** Deletes the person with sessions, links and second factor. */
    deletePerson: async (id: string) => {
      await Promise.all([
        deleteNamedSessions(id, id, NO_HASH),
        deletePersonLinks(id),
        deleteSecondFactor(id),
        deleteRecord(id),
      ])
    },
    /**
     * @param personId null for the operator without a name
     * @param but hash of the session that is kept
     * @returns how many were deleted
     */
    deletePersonSessions: (personId: string | null, but: Buffer = NO_HASH) =>
      personId === null ? deleteUnnamedSessions(but) : deleteNamedSessions(personId, personId, but),
    /** Deletes the sessions and unused links of the tenant and its people. @returns how many of each */
    deleteTenantSignIns: async (tenantId: string) => {
      const [sessions, links, personLinks] = await Promise.all([
        deleteTenantSessions(tenantId, tenantId),
        deleteTenantLinks(tenantId),
        deleteTenantPersonLinks(tenantId),
      ])
      return { sessions, links: links + personLinks }
    },
    /** @returns false when there was no such session */
    deleteDashboardSession: hits<[hash: Buffer]>('DELETE FROM dashboard_session WHERE hash = ?'),
    /** Notes that a session is in use. Does nothing for a session that was deleted meanwhile. */
    keepDashboardSession: run<[kept: Pick<SessionRecord, 'hash' | 'expiresAt' | 'lastUsedAt'>]>(
      'UPDATE dashboard_session SET expires_at = @expiresAt, last_used_at = @lastUsedAt WHERE hash = @hash',
    ),
    setSessionAuthenticated: run<
      [proved: Pick<SessionRecord, 'hash' | 'authenticatedAt' | 'secondFactorAt'>]
    >(
      `UPDATE dashboard_session SET authenticated_at = @authenticatedAt, second_factor_at = @secondFactorAt
       WHERE hash = @hash`,
    ),
  }
}
