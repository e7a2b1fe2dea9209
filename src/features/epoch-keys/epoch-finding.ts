/** The finding of `doctor` about the epoch keys. */
import { type Finding, findingsOf, type WithCore } from '../../cli/lib/finding.js'
import type { Config } from '../../config/config.js'
import { ownValues } from '../../config/own-settings.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../lib/clock.js'
import { docPath } from '../../lib/doc-path.js'
import { SchemaOutdatedError } from '../../storage/store.js'
import { epochsOf, isUnderWay } from '../postgres/exports.js'
import { EPOCH_SETTINGS } from './epoch-settings.js'

/** Longer than services need to read a key. Wrapping the rows again may take hours. */
const EPOCH_LOADED_MS = 10 * MINUTE_MS

/** Checks the epoch keys of a PostgreSQL database that can be opened. */
export async function examineEpochs(config: Config, withCore: WithCore): Promise<Finding> {
  const { ok, warning, problem } = findingsOf('epoch keys')
  const { epochKeys, epochHours } = ownValues(EPOCH_SETTINGS, config)
  if (epochKeys === undefined)
    return warning(
      'none: anyone with the master key and an older archive or base backup can still open users who were erased since',
      `set COUNTERSIGN_EPOCH_KEYS to a folder; see ${docPath('postgresql.md#epoch-keys')}`,
    )
  try {
    const now = Date.now()
    const { records, late, behind } = await withCore(async ({ store }) => {
      const { epochs } = epochsOf(store)!
      const records = await epochs.all()
      const late = records.find(
        (one) => isUnderWay(one) && one.activatedAt === null && one.announcedAt < now - EPOCH_LOADED_MS,
      )
      return { records, late, behind: late ? await epochs.behind('loaded', late.number) : [] }
    })
    if (late)
      return problem(
        `epoch ${late.number} was announced, and has not begun${behind.length > 0 ? `: ${behind.join(', ')} cannot read its key` : ''}`,
        'run countersign keys rotate-epoch to see what delays it',
      )
    const present = records.findLast(({ completedAt }) => completedAt !== null)
    if (!present) return warning('the first epoch has not begun; the service will begin it')
    const detail = `epoch ${present.number}, since ${new Date(present.announcedAt).toISOString()}`
    const isOverdue = epochHours > 0 && present.announcedAt + epochHours * HOUR_MS < now - DAY_MS
    return isOverdue ? problem(`${detail}: overdue`, "look for the reason in the service's log") : ok(detail)
  } catch (error) {
    // The finding about the database already says so.
    if (error instanceof SchemaOutdatedError) return warning('not examined until the schema is migrated')
    return problem((error as Error).message, `see ${docPath('postgresql.md#epoch-keys')}`)
  }
}
