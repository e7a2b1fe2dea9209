/** The SQL of the dashboard: its operators, sign-ins, sessions and charts. */
import type { Connection } from './connection.js'
import type {
  LoginLinkRecord,
  OperatorLinkRecord,
  OperatorRecord,
  SecondFactorRecord,
  SessionRecord,
  TrafficRecord,
} from './records.js'
import type { StoreReader, StoreTransaction } from './store.js'
import { DASHBOARD_SESSION, LOGIN_LINK, OPERATOR, OPERATOR_LINK, SECOND_FACTOR, TRAFFIC } from './tables.js'

type DashboardReader = Pick<
  StoreReader,
  | 'operators'
  | 'operatorByName'
  | 'operatorById'
  | 'secondFactor'
  | 'secondFactors'
  | 'dashboardSession'
  | 'dashboardSessions'
  | 'traffic'
  | 'trafficAt'
>
type DashboardWriter = Pick<
  StoreTransaction,
  | 'insertLoginLink'
  | 'takeLoginLink'
  | 'putSecondFactor'
  | 'deleteSecondFactor'
  | 'insertOperatorLink'
  | 'takeOperatorLink'
  | 'insertDashboardSession'
  | 'putOperator'
  | 'setLastSignIn'
  | 'deleteOperator'
  | 'deleteOperatorSessions'
  | 'deleteTenantSignIns'
  | 'deleteDashboardSession'
  | 'keepDashboardSession'
  | 'setSessionAuthenticated'
  | 'putTraffic'
>

export function dashboardReader(database: Connection): DashboardReader {
  const sql = {
    operators: database.prepare<[], OperatorRecord>(`SELECT ${OPERATOR.fields} FROM operator ORDER BY name`),
    operatorByName: database.prepare<[string], OperatorRecord>(
      `SELECT ${OPERATOR.fields} FROM operator WHERE name = ?`,
    ),
    operatorById: database.prepare<[string], OperatorRecord>(
      `SELECT ${OPERATOR.fields} FROM operator WHERE id = ?`,
    ),
    dashboardSession: database.prepare<[Buffer, number], SessionRecord>(
      `SELECT ${DASHBOARD_SESSION.fields} FROM dashboard_session WHERE hash = ? AND expires_at > ?`,
    ),
    secondFactor: database.prepare<[string], SecondFactorRecord>(
      `SELECT ${SECOND_FACTOR.fields} FROM second_factor WHERE id = ?`,
    ),
    secondFactors: database.prepare<[], SecondFactorRecord>(
      `SELECT ${SECOND_FACTOR.fields} FROM second_factor ORDER BY id`,
    ),
    dashboardSessions: database.prepare<[number], SessionRecord>(
      `SELECT ${DASHBOARD_SESSION.fields} FROM dashboard_session WHERE expires_at > ?
       ORDER BY coalesce(created_at, 0) DESC, hash`,
    ),
    traffic: database.prepare<[string, string, number], TrafficRecord>(
      `SELECT ${TRAFFIC.fields} FROM traffic WHERE tenant_id = ? AND resolution = ? AND at >= ? ORDER BY at`,
    ),
    trafficAt: database.prepare<[string, string, number], TrafficRecord>(
      `SELECT ${TRAFFIC.fields} FROM traffic WHERE tenant_id = ? AND resolution = ? AND at = ?`,
    ),
  }
  return {
    operators: async () => sql.operators.all(),
    operatorByName: async (name) => sql.operatorByName.get(name),
    operatorById: async (id) => sql.operatorById.get(id),
    dashboardSession: async (hash, now) => sql.dashboardSession.get(hash, now),
    secondFactor: async (id) => sql.secondFactor.get(id),
    secondFactors: async () => sql.secondFactors.all(),
    dashboardSessions: async (now) => sql.dashboardSessions.all(now),
    traffic: async (tenantId, resolution, since) => sql.traffic.all(tenantId, resolution, since),
    trafficAt: async (tenantId, resolution, at) => sql.trafficAt.get(tenantId, resolution, at),
  }
}

export function dashboardWriter(database: Connection): DashboardWriter {
  const sql = {
    insertLoginLink: database.prepare(LOGIN_LINK.insert),
    takeLoginLink: database.prepare<[Buffer, number], LoginLinkRecord>(
      `DELETE FROM login_link WHERE hash = ? AND expires_at > ? RETURNING ${LOGIN_LINK.fields}`,
    ),
    expireOperatorLinks: database.prepare('DELETE FROM operator_link WHERE expires_at <= ?'),
    putSecondFactor: database.prepare(SECOND_FACTOR.replace),
    deleteSecondFactor: database.prepare('DELETE FROM second_factor WHERE id = ?'),
    insertOperatorLink: database.prepare(OPERATOR_LINK.insert),
    takeOperatorLink: database.prepare<[Buffer, number], OperatorLinkRecord>(
      `DELETE FROM operator_link WHERE hash = ? AND expires_at > ? RETURNING ${OPERATOR_LINK.fields}`,
    ),
    insertSession: database.prepare(DASHBOARD_SESSION.insert),
    putOperator: database.prepare(
      `${OPERATOR.insert} ON CONFLICT (id) DO UPDATE SET role = excluded.role, password_hash = excluded.password_hash`,
    ),
    setLastSignIn: database.prepare(
      'UPDATE operator SET last_sign_in_at = ?, last_sign_in_by = ? WHERE id = ?',
    ),
    deleteOperator: database.prepare('DELETE FROM operator WHERE id = ?'),
    deleteOperatorSessions: database.prepare('DELETE FROM dashboard_session WHERE operator_id = ?'),
    deleteUnnamedSessions: database.prepare(
      'DELETE FROM dashboard_session WHERE tenant_id IS NULL AND operator_id IS NULL',
    ),
    deleteTenantSessions: database.prepare('DELETE FROM dashboard_session WHERE tenant_id = ?'),
    deleteTenantLinks: database.prepare('DELETE FROM login_link WHERE tenant_id = ?'),
    keepSession: database.prepare(
      'UPDATE dashboard_session SET expires_at = ?, last_used_at = ? WHERE hash = ?',
    ),
    setSessionAuthenticated: database.prepare(
      'UPDATE dashboard_session SET authenticated_at = ? WHERE hash = ?',
    ),
    deleteSession: database.prepare('DELETE FROM dashboard_session WHERE hash = ?'),
    putTraffic: database.prepare(TRAFFIC.replace),
  }
  return {
    insertLoginLink: async (link) => void sql.insertLoginLink.run(link),
    takeLoginLink: async (hash, now) => sql.takeLoginLink.get(hash, now),
    putSecondFactor: async (factor) => void sql.putSecondFactor.run(factor),
    deleteSecondFactor: async (id) => void sql.deleteSecondFactor.run(id),
    insertOperatorLink: async (link, now) => {
      sql.expireOperatorLinks.run(now)
      sql.insertOperatorLink.run(link)
    },
    takeOperatorLink: async (hash, now) => sql.takeOperatorLink.get(hash, now),
    insertDashboardSession: async (session) => void sql.insertSession.run(session),
    putOperator: async (operator) => void sql.putOperator.run(operator),
    setLastSignIn: async (operatorId, at, by) => void sql.setLastSignIn.run(at, by, operatorId),
    deleteOperator: async (id) => {
      sql.deleteOperatorSessions.run(id)
      sql.deleteSecondFactor.run(id)
      sql.deleteOperator.run(id)
    },
    deleteOperatorSessions: async (operatorId) =>
      (
        await (operatorId === null
          ? sql.deleteUnnamedSessions.run()
          : sql.deleteOperatorSessions.run(operatorId))
      ).changes,
    deleteTenantSignIns: async (tenantId) => {
      const [sessions, links] = await Promise.all([
        sql.deleteTenantSessions.run(tenantId),
        sql.deleteTenantLinks.run(tenantId),
      ])
      return { sessions: sessions.changes, links: links.changes }
    },
    deleteDashboardSession: async (hash) => (await sql.deleteSession.run(hash)).changes > 0,
    keepDashboardSession: async (hash, { expiresAt, lastUsedAt }) =>
      void sql.keepSession.run(expiresAt, lastUsedAt, hash),
    setSessionAuthenticated: async (hash, at) => void sql.setSessionAuthenticated.run(at, hash),
    putTraffic: async (traffic) => void sql.putTraffic.run(traffic),
  }
}
