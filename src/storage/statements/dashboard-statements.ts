/** The SQL of the dashboard: its people, sign-ins and sessions. */
import type { Connection } from '../connection.js'
import type {
  LoginLinkRecord,
  PersonLinkRecord,
  PersonRecord,
  SecondFactorRecord,
  SessionRecord,
} from '../records.js'
import type { StoreReader, StoreTransaction } from '../store.js'
import {
  DASHBOARD_SESSION,
  LOGIN_LINK,
  OPERATOR,
  OPERATOR_LINK,
  PERSON,
  PERSON_LINK,
  SECOND_FACTOR,
} from '../tables/index.js'

type DashboardReader = Pick<
  StoreReader,
  | 'people'
  | 'everyone'
  | 'personByName'
  | 'personById'
  | 'secondFactor'
  | 'secondFactors'
  | 'dashboardSession'
  | 'dashboardSessions'
  | 'loginLink'
  | 'personLink'
>
type DashboardWriter = Pick<
  StoreTransaction,
  | 'insertLoginLink'
  | 'takeLoginLink'
  | 'putSecondFactor'
  | 'noteSecondFactorUse'
  | 'deleteSecondFactor'
  | 'insertPersonLink'
  | 'takePersonLink'
  | 'insertDashboardSession'
  | 'putPerson'
  | 'setLastSignIn'
  | 'deletePerson'
  | 'deletePersonSessions'
  | 'deleteTenantSignIns'
  | 'deleteDashboardSession'
  | 'keepDashboardSession'
  | 'setSessionAuthenticated'
>

const NO_HASH = Buffer.alloc(0)
/** Fields of an operator of the installation, in the shape of a person. */
const OPERATOR_FIELDS = `${OPERATOR.fields}, NULL AS "tenantId", 'invited' AS "origin"`
/** A session with the person and the tenant to whom it belongs. */
const SESSION_FIELDS = `${Object.entries(DASHBOARD_SESSION.columnOf)
  .filter(([field]) => !['tenantId', 'operatorId', 'tenantPersonId'].includes(field))
  .map(([field, column]) => `one.${column} AS "${field}"`)
  .join(', ')}, coalesce(one.tenant_id, person.tenant_id) AS "tenantId",
  coalesce(one.operator_id, one.person_id) AS "personId"`
const SESSIONS = 'dashboard_session AS one LEFT JOIN person ON person.id = one.person_id'

export function dashboardReader(database: Connection): DashboardReader {
  const sql = {
    operators: database.prepare<[], PersonRecord>(`SELECT ${OPERATOR_FIELDS} FROM operator ORDER BY name`),
    operatorByName: database.prepare<[string], PersonRecord>(
      `SELECT ${OPERATOR_FIELDS} FROM operator WHERE name = ?`,
    ),
    operatorById: database.prepare<[string], PersonRecord>(
      `SELECT ${OPERATOR_FIELDS} FROM operator WHERE id = ?`,
    ),
    people: database.prepare<[string], PersonRecord>(
      `SELECT ${PERSON.fields} FROM person WHERE tenant_id = ? ORDER BY name`,
    ),
    everyPerson: database.prepare<[], PersonRecord>(`SELECT ${PERSON.fields} FROM person ORDER BY name`),
    personByName: database.prepare<[string], PersonRecord>(
      `SELECT ${PERSON.fields} FROM person WHERE name = ?`,
    ),
    personById: database.prepare<[string], PersonRecord>(`SELECT ${PERSON.fields} FROM person WHERE id = ?`),
    dashboardSession: database.prepare<[Buffer, number], SessionRecord>(
      `SELECT ${SESSION_FIELDS} FROM ${SESSIONS} WHERE one.hash = ? AND one.expires_at > ?`,
    ),
    loginLink: database.prepare<[Buffer, number], LoginLinkRecord>(
      `SELECT ${LOGIN_LINK.fields} FROM login_link WHERE hash = ? AND expires_at > ?`,
    ),
    operatorLink: database.prepare<[Buffer, number], PersonLinkRecord>(
      `SELECT ${OPERATOR_LINK.fields}, NULL AS "tenantId" FROM operator_link WHERE hash = ? AND expires_at > ?`,
    ),
    personLink: database.prepare<[Buffer, number], PersonLinkRecord>(
      `SELECT ${PERSON_LINK.fields} FROM person_link WHERE hash = ? AND expires_at > ?`,
    ),
    secondFactor: database.prepare<[string], SecondFactorRecord>(
      `SELECT ${SECOND_FACTOR.fields} FROM second_factor WHERE id = ?`,
    ),
    secondFactors: database.prepare<[], SecondFactorRecord>(
      `SELECT ${SECOND_FACTOR.fields} FROM second_factor ORDER BY id`,
    ),
    dashboardSessions: database.prepare<[number], SessionRecord>(
      `SELECT ${SESSION_FIELDS} FROM ${SESSIONS} WHERE one.expires_at > ?
       ORDER BY coalesce(one.created_at, 0) DESC, one.hash`,
    ),
  }
  return {
    people: async (tenantId) => (tenantId === null ? sql.operators.all() : sql.people.all(tenantId)),
    everyone: async () => [...(await sql.operators.all()), ...(await sql.everyPerson.all())],
    personByName: async (name) => (await sql.operatorByName.get(name)) ?? sql.personByName.get(name),
    personById: async (id) => (await sql.operatorById.get(id)) ?? sql.personById.get(id),
    dashboardSession: async (hash, now) => sql.dashboardSession.get(hash, now),
    loginLink: async (hash, now) => sql.loginLink.get(hash, now),
    personLink: async (hash, now) => (await sql.operatorLink.get(hash, now)) ?? sql.personLink.get(hash, now),
    secondFactor: async (id) => sql.secondFactor.get(id),
    secondFactors: async () => sql.secondFactors.all(),
    dashboardSessions: async (now) => sql.dashboardSessions.all(now),
  }
}

export function dashboardWriter(database: Connection): DashboardWriter {
  const sql = {
    insertLoginLink: database.prepare(LOGIN_LINK.insert),
    takeLoginLink: database.prepare<[Buffer, number], LoginLinkRecord>(
      `DELETE FROM login_link WHERE hash = ? AND expires_at > ? RETURNING ${LOGIN_LINK.fields}`,
    ),
    expireOperatorLinks: database.prepare('DELETE FROM operator_link WHERE expires_at <= ?'),
    expirePersonLinks: database.prepare('DELETE FROM person_link WHERE expires_at <= ?'),
    putSecondFactor: database.prepare(SECOND_FACTOR.replace),
    // The comparison with what was read makes one of several uses at once succeed.
    noteSecondFactorUse: database.prepare(
      `UPDATE second_factor SET recovery = @recovery, last_step = @lastStep WHERE id = @id
         AND recovery = @recoveryBefore AND last_step IS NOT DISTINCT FROM @lastStepBefore`,
    ),
    deleteSecondFactor: database.prepare('DELETE FROM second_factor WHERE id = ?'),
    insertOperatorLink: database.prepare(OPERATOR_LINK.insert),
    insertPersonLink: database.prepare(PERSON_LINK.insert),
    takeOperatorLink: database.prepare<[Buffer, number], PersonLinkRecord>(
      `DELETE FROM operator_link WHERE hash = ? AND expires_at > ? RETURNING ${OPERATOR_LINK.fields}, NULL AS "tenantId"`,
    ),
    takePersonLink: database.prepare<[Buffer, number], PersonLinkRecord>(
      `DELETE FROM person_link WHERE hash = ? AND expires_at > ? RETURNING ${PERSON_LINK.fields}`,
    ),
    deletePersonLinks: database.prepare('DELETE FROM person_link WHERE person_id = ?'),
    insertSession: database.prepare(DASHBOARD_SESSION.insert),
    putOperator: database.prepare(
      `${OPERATOR.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash`,
    ),
    putPerson: database.prepare(
      `${PERSON.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash, origin = excluded.origin`,
    ),
    setOperatorSignIn: database.prepare(
      'UPDATE operator SET last_sign_in_at = ?, last_sign_in_by = ? WHERE id = ?',
    ),
    setPersonSignIn: database.prepare(
      'UPDATE person SET last_sign_in_at = ?, last_sign_in_by = ? WHERE id = ?',
    ),
    deleteOperator: database.prepare('DELETE FROM operator WHERE id = ?'),
    deletePerson: database.prepare('DELETE FROM person WHERE id = ?'),
    deletePersonSessions: database.prepare<[string, string, Buffer]>(
      'DELETE FROM dashboard_session WHERE (operator_id = ? OR person_id = ?) AND hash <> ?',
    ),
    deleteUnnamedSessions: database.prepare<[Buffer]>(
      `DELETE FROM dashboard_session
       WHERE tenant_id IS NULL AND operator_id IS NULL AND person_id IS NULL AND hash <> ?`,
    ),
    deleteTenantSessions: database.prepare<[string, string]>(
      `DELETE FROM dashboard_session WHERE tenant_id = ? OR person_id IN (SELECT id FROM person WHERE tenant_id = ?)`,
    ),
    deleteTenantLinks: database.prepare('DELETE FROM login_link WHERE tenant_id = ?'),
    deleteTenantPersonLinks: database.prepare('DELETE FROM person_link WHERE tenant_id = ?'),
    keepSession: database.prepare(
      'UPDATE dashboard_session SET expires_at = ?, last_used_at = ? WHERE hash = ?',
    ),
    setSessionAuthenticated: database.prepare(
      'UPDATE dashboard_session SET authenticated_at = ?, second_factor_at = ? WHERE hash = ?',
    ),
    deleteSession: database.prepare('DELETE FROM dashboard_session WHERE hash = ?'),
  }
  return {
    insertLoginLink: async (link) => void sql.insertLoginLink.run(link),
    takeLoginLink: async (hash, now) => sql.takeLoginLink.get(hash, now),
    putSecondFactor: async (factor) => void sql.putSecondFactor.run(factor),
    noteSecondFactorUse: async (before, { recovery, lastStep }) => {
      const { id, recovery: recoveryBefore, lastStep: lastStepBefore } = before
      const given = { id, recovery, lastStep, recoveryBefore, lastStepBefore }
      return (await sql.noteSecondFactorUse.run(given)).changes === 1
    },
    deleteSecondFactor: async (id) => void sql.deleteSecondFactor.run(id),
    insertPersonLink: async (link, now) => {
      sql.expireOperatorLinks.run(now)
      sql.expirePersonLinks.run(now)
      if (link.tenantId === null) sql.insertOperatorLink.run(link)
      else sql.insertPersonLink.run(link)
    },
    takePersonLink: async (hash, now) =>
      (await sql.takeOperatorLink.get(hash, now)) ?? sql.takePersonLink.get(hash, now),
    insertDashboardSession: async ({ tenantId, personId, ...session }) =>
      void sql.insertSession.run({
        ...session,
        tenantId: personId === null ? tenantId : null,
        operatorId: tenantId === null ? personId : null,
        tenantPersonId: tenantId === null ? null : personId,
      }),
    putPerson: async (person) =>
      void (person.tenantId === null ? sql.putOperator : sql.putPerson).run(person),
    setLastSignIn: async (personId, at, by) => {
      sql.setOperatorSignIn.run(at, by, personId)
      sql.setPersonSignIn.run(at, by, personId)
    },
    deletePerson: async (id) => {
      sql.deletePersonSessions.run(id, id, NO_HASH)
      sql.deletePersonLinks.run(id)
      sql.deleteSecondFactor.run(id)
      sql.deleteOperator.run(id)
      sql.deletePerson.run(id)
    },
    deletePersonSessions: async (personId, but = NO_HASH) =>
      (
        await (personId === null
          ? sql.deleteUnnamedSessions.run(but)
          : sql.deletePersonSessions.run(personId, personId, but))
      ).changes,
    deleteTenantSignIns: async (tenantId) => {
      const [sessions, links, personLinks] = await Promise.all([
        sql.deleteTenantSessions.run(tenantId, tenantId),
        sql.deleteTenantLinks.run(tenantId),
        sql.deleteTenantPersonLinks.run(tenantId),
      ])
      return { sessions: sessions.changes, links: links.changes + personLinks.changes }
    },
    deleteDashboardSession: async (hash) => (await sql.deleteSession.run(hash)).changes > 0,
    keepDashboardSession: async (hash, { expiresAt, lastUsedAt }) =>
      void sql.keepSession.run(expiresAt, lastUsedAt, hash),
    setSessionAuthenticated: async (hash, { authenticatedAt, secondFactorAt }) =>
      void sql.setSessionAuthenticated.run(authenticatedAt, secondFactorAt, hash),
  }
}
