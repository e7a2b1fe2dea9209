/** The SQL of what a verdict looks at: the captures of a user, and how the user stands. */
import { type Connection, onceEach, type ReadConnection, reading, writing } from '../connection.js'
import type { CaptureHistory, CaptureRecord, Standing } from '../records.js'
import { CAPTURE } from '../tables/index.js'

export function captureReader(database: ReadConnection) {
  const { rows } = reading(database)
  // The LIMIT is a sum, because SQLite plans a statement again whenever a bare parameter is given as LIMIT.
  const history = onceEach((digests: number) =>
    rows<unknown[], { last: number | null; matches: number; sealed: Buffer | null }>(
      `SELECT seen.last, seen.matches, newest.sealed
       FROM (SELECT max(rowid) AS last, count(CASE WHEN digest IN (${Array(digests).fill('?').join(', ')}) AND seen_at > ? THEN 1 END) AS matches
         FROM capture WHERE subject_id = ?) AS seen
       LEFT JOIN (SELECT sealed FROM capture WHERE subject_id = ? AND seen_at > ? AND length(sealed) > 0
         ORDER BY seen_at DESC LIMIT ? + 0) AS newest ON true`,
      'brief',
    ),
  )
  const standing = rows<[number, Buffer], Omit<Standing, 'captures'> & CaptureRecord>(
    `SELECT subject.id AS id, failures, locked_until AS "lockedUntil", disabled_at AS "disabledAt",
       CASE subject.environment WHEN 'production' THEN tenant.policy_hash
         ELSE tenant.sandbox_policy_hash END AS "policyHash", ${CAPTURE.fields}
     FROM subject JOIN tenant ON tenant.id = subject.tenant_id
     LEFT JOIN capture ON capture.subject_id = subject.id AND capture.rowid > ?
     WHERE subject.lookup = ? ORDER BY capture.rowid`,
  )
  return {
    /** The subject's captures after `since`. @param digests of the capture that is compared with them */
    captureHistory: async (
      subjectId: string,
      digests: readonly Buffer[],
      since: number,
      limit: number,
    ): Promise<CaptureHistory> => {
      // SQL has no empty list: an empty digest matches no capture.
      const asked = digests.length > 0 ? digests : [Buffer.alloc(0)]
      const found = await history(asked.length)(...asked, since, subjectId, subjectId, since, limit)
      const { last, matches } = found[0]!
      return { hasDigest: matches > 0, newest: found.flatMap(({ sealed }) => sealed ?? []), last: last ?? 0 }
    },
    /** All that a verdict looks at again within its transaction. @param last position of a history, after which later captures come */
    standing: async (blindIndex: Buffer, last: number): Promise<Standing | undefined> => {
      const found = await standing(last, blindIndex)
      if (!found[0]) return undefined
      const { id, failures, lockedUntil, disabledAt, policyHash } = found[0]
      // Without later captures there is one row, whose capture has nothing but nulls.
      const captures = found.flatMap(({ subjectId, digest, sealed, seenAt }) =>
        digest === null ? [] : { subjectId, digest, sealed, seenAt },
      )
      return { id, failures, lockedUntil, disabledAt, policyHash, captures }
    },
  }
}

export function captureWriter(database: Connection) {
  return { insertCapture: writing(database).insert(CAPTURE) }
}
