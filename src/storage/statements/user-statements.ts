/** The SQL of users, their references, and when users of the sandbox were last used. */
import type { Environment } from '../../config/config.js'
import { type Connection, type ReadConnection, reading, writing } from '../connection.js'
import type { OwnConsentTextRecord, ReferenceRecord, SubjectRecord } from '../records.js'
import { joined } from '../table.js'
import {
  ACTIVITY,
  AGED_REFERENCE,
  FOLLOWING_REFERENCE,
  OWN_CONSENT_TEXT,
  REFERENCE,
  SUBJECT,
} from '../tables/index.js'

const USER = joined({
  subject: SUBJECT,
  reference: REFERENCE,
  following: FOLLOWING_REFERENCE,
  aged: AGED_REFERENCE,
})
const REFERENCED = joined({
  subject: SUBJECT,
  reference: REFERENCE,
})
const REFERENCE_OF_SUBJECT = 'FROM reference JOIN subject ON subject.id = reference.subject_id'

export function userReader(database: ReadConnection) {
  const { rows, count, from } = reading(database)
  const user = rows<[Buffer], Record<string, unknown>>(
    `SELECT ${USER.fields} FROM subject LEFT JOIN reference ON reference.subject_id = subject.id
     LEFT JOIN following_reference ON following_reference.reference_id = reference.id
     LEFT JOIN aged_reference ON aged_reference.reference_id = reference.id
     WHERE subject.lookup = ?`,
    'brief',
  )
  const referencesAfter = rows<[string, Environment, Buffer, string, number], Record<string, unknown>>(
    `SELECT ${REFERENCED.fields} FROM subject JOIN reference ON reference.subject_id = subject.id
     WHERE subject.tenant_id = ? AND subject.environment = ? AND subject.lookup > ? AND reference.model = ?
     ORDER BY subject.lookup LIMIT ?`,
  )
  const referencesOf = rows<[string], { environment: Environment; count: number }>(
    `SELECT subject.environment, count(*) AS count ${REFERENCE_OF_SUBJECT}
     WHERE subject.tenant_id = ? GROUP BY subject.environment`,
  )
  const blindIndexesOf = rows<[string, number], { lookup: Buffer }>(
    'SELECT lookup FROM subject WHERE tenant_id = ? LIMIT ?',
  )
  const counts = {
    tenants: count<[]>('FROM tenant'),
    references: count<[Environment]>(`${REFERENCE_OF_SUBJECT} WHERE subject.environment = ?`),
    auditEntries: count<[]>('FROM audit'),
  }
  return {
    /**
     * The user with the reference, the templates of other models next to it (`following`), and the template that it has become by captures
     * that were taken in (`aged`). Reference and aged template are null where there is none.
     */
    subject: async (blindIndex: Buffer) => {
      const found = (await user(blindIndex)).map(USER.split)
      const [first] = found
      if (!first) return undefined
      const { subject, reference, aged } = first
      return {
        subject: subject!,
        reference,
        following: found.flatMap(({ following }) => following ?? []),
        aged,
      }
    },
    /**
     * Users of the tenant whose reference this model made, in the order of their blind indexes, from `after` (exclusive; empty for the start).
     */
    referencesAfter: async (
      tenantId: string,
      environment: Environment,
      model: string,
      after: Buffer,
      limit: number,
    ) =>
      (await referencesAfter(tenantId, environment, after, model, limit)).map((one) => {
        const { subject, reference } = REFERENCED.split(one)
        return { subject: subject!, reference: reference! }
      }),
    /** The subject without the reference, which is larger than all other fields together. */
    subjectWithoutReference: from(SUBJECT).row<[blindIndex: Buffer]>('WHERE lookup = ?'),
    /** How many users of the tenant have a reference. */
    referencesOf: async (tenantId: string) => {
      const found = { production: 0, sandbox: 0 }
      for (const { environment, count } of await referencesOf(tenantId)) found[environment] = count
      return found
    },
    /** Number of the tenant's users in the sandbox, counted up to `limit`. */
    countSandboxUsers: count<[tenantId: string, limit: number]>(
      'FROM (SELECT 1 FROM sandbox_user WHERE tenant_id = ? LIMIT ?) AS counted',
    ),
    /** Sandbox users that were not used since `before`, the longest unused first. */
    unusedSandboxUsers: rows<[before: number, limit: number], { blindIndex: Buffer; tenantId: string }>(
      `SELECT lookup AS "blindIndex", tenant_id AS "tenantId" FROM sandbox_user
       WHERE used_at <= ? ORDER BY used_at LIMIT ?`,
    ),
    /** Blind indexes of up to `limit` users of the tenant. */
    blindIndexesOf: async (tenantId: string, limit: number) =>
      (await blindIndexesOf(tenantId, limit)).map(({ lookup }) => lookup),
    /** Texts that sessions of the user brought as their own and the user agreed to, oldest first. */
    ownConsentTextsOf: from(OWN_CONSENT_TEXT).rows<[subjectId: string]>(
      'WHERE subject_id = ? ORDER BY first_agreed_at, sha256, version',
    ),
    /** When the user was last used; undefined where nothing was noted. */
    activity: from(ACTIVITY).row<[blindIndex: Buffer]>('WHERE lookup = ?'),
    /**
     * The model packs that made the references of an environment, and the number of references of each.
     * @param besides pattern of SQL's LIKE: references next to which a template of such a model is kept are not counted
     */
    referenceModels: rows<[environment: Environment, besides: string], { model: string; amount: number }>(
      `SELECT reference.model AS model, count(*) AS amount ${REFERENCE_OF_SUBJECT}
       WHERE subject.environment = ? AND NOT EXISTS (SELECT 1 FROM following_reference AS following
         WHERE following.reference_id = reference.id AND following.model LIKE ?)
       GROUP BY reference.model ORDER BY reference.model`,
    ),
    /** How much the installation holds. */
    counts: async () => ({
      tenants: await counts.tenants(),
      references: {
        production: await counts.references('production'),
        sandbox: await counts.references('sandbox'),
      },
      auditEntries: await counts.auditEntries(),
    }),
  }
}

export function userWriter(database: Connection) {
  const { insert, run } = writing(database)
  const sql = {
    setLockout: database.prepare(
      'UPDATE subject SET failures = @failures, locked_until = @lockedUntil, disabled_at = @disabledAt WHERE id = @id',
    ),
    setReplaceVerdict: database.prepare(
      'UPDATE subject SET replace_verdict = @id, replace_verdict_at = @at WHERE id = @subjectId',
    ),
    deleteReference: database.prepare('DELETE FROM reference WHERE subject_id = ?'),
    insertReference: database.prepare(REFERENCE.insert),
  }
  return {
    insertSubject: insert(SUBJECT),
    /** Sets the verdict by which the user agrees to a new reference. @param verdict null once it is used */
    setReplaceVerdict: async (subjectId: string, verdict: { id: string; at: number } | null) =>
      void sql.setReplaceVerdict.run({ subjectId, id: verdict?.id ?? null, at: verdict?.at ?? null }),
    /** Sets when a sandbox user was last used, unless the stored time is after `unlessSince`. */
    noteSandboxUse: run<[use: { blindIndex: Buffer; tenantId: string; at: number; unlessSince: number }]>(
      `INSERT INTO sandbox_user (lookup, tenant_id, used_at) VALUES (@blindIndex, @tenantId, @at)
       ON CONFLICT (lookup) DO UPDATE SET used_at = excluded.used_at WHERE sandbox_user.used_at <= @unlessSince`,
    ),
    setLockout: async (
      subjectId: string,
      state: Pick<SubjectRecord, 'failures' | 'lockedUntil' | 'disabledAt'>,
    ) => void sql.setLockout.run({ id: subjectId, ...state }),
    /** Inserts the subject's reference, or replaces it with all templates next to it, the aged one too. */
    putReference: async (reference: ReferenceRecord) => {
      sql.deleteReference.run(reference.subjectId)
      sql.insertReference.run(reference)
    },
    /** Inserts the text unless the user has it. */
    keepOwnConsentText: run<[text: OwnConsentTextRecord]>(
      `${OWN_CONSENT_TEXT.insert} ON CONFLICT (subject_id, sha256, version) DO NOTHING`,
    ),
    /** Replaces the sealed content of a reference. */
    resealReference: run<[reference: Pick<ReferenceRecord, 'id' | 'sealed'>]>(
      'UPDATE reference SET sealed = @sealed WHERE id = @id',
    ),
  }
}
