/** Opens the files that a power cut left, as the next start does, and compares them with what was promised before the cut. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openCore } from '../../src/app/core.js'
import { restoreDatabase } from '../../src/cli/backup/backup.js'
import { joinKeys, makeBackup } from '../../src/cli/backup/sqlite-backup.js'
import { type Config, sqliteFile } from '../../src/config/config.js'
import { tablesOf as tablesOfFeatures } from '../../src/features/index.js'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import type { Expected, Tables } from './marks.js'
import {
  configOf,
  copyFile,
  isSame,
  keysFile,
  PASSWORD,
  passwordFile,
  restoredConfigOf,
  tablesOf,
} from './places.js'

/** Lost: confirmed data are missing. Corrupt: the data are damaged. */
export class Finding extends Error {
  constructor(
    readonly kind: 'lost' | 'corrupt',
    message: string,
  ) {
    super(message)
  }
}

/** A backup leaves out kept responses that an erasure would not reach in it. */
const NOT_IN_BACKUPS = ['idempotency']
/** A restore adds an entry to every audit log. */
const CHANGED_BY_RESTORE = [...NOT_IN_BACKUPS, 'audit', 'audit_seal']

/** @param root folder of the image @throws Finding */
export async function examine(root: string, expected: Expected): Promise<void> {
  examinePassword(root, expected)
  const config = configOf(root)
  if (expected.told > 0 && !existsSync(sqliteFile(config))) throw new Finding('lost', 'there is no database')
  const tables = await openWhole(config)
  if (expected.told > 0) assertState(tables, expected)
  const once = readFileSync(sqliteFile(config))
  await SqliteStore.open(sqliteFile(config)).close()
  if (!readFileSync(sqliteFile(config)).equals(once))
    throw new Finding('corrupt', 'opening it again changed it')
  for (const [copy, state] of expected.backups) await examineBackup(root, copy, expected.states[state]!)
  if (expected.backupUnderWay !== null) await backUpAgain(root, expected.backupUnderWay, tables)
  await examineRestored(root, expected)
}

function examinePassword(root: string, { isPasswordMade }: Expected): void {
  const file = passwordFile(root)
  if (!existsSync(file)) {
    if (isPasswordMade) throw new Finding('lost', 'the password is gone')
  } else if (readFileSync(file, 'utf8') !== PASSWORD)
    throw new Finding('corrupt', 'the password is not whole')
}

async function openWhole(config: Config): Promise<Tables> {
  const core = await openCore(config).catch((error: Error) => {
    throw new Finding('corrupt', error.message)
  })
  try {
    const { store, audit } = core
    const problems = await store.check()
    for (const { id } of await store.read.tenants()) {
      const { brokenAt } = await audit.verify(store.read, id)
      if (brokenAt !== null) problems.push(`the audit log of ${id} is broken at ${brokenAt}`)
    }
    if (problems.length > 0) throw new Finding('corrupt', problems.join('; '))
    return tablesOf(sqliteFile(config))
  } finally {
    await core.store.close()
  }
}

/** Checks that the tables are in a state after a whole commit: the last acknowledged one, or a later one. */
function assertState(tables: Tables, { states, reached, told }: Expected): void {
  const isAnyOf = (some: readonly Tables[]) => some.some((state) => isSame(state, tables))
  if (isAnyOf(states.slice(told - 1, reached + 1))) return
  if (isAnyOf(states.slice(0, told - 1)))
    throw new Finding('lost', 'the database is older than was confirmed')
  throw new Finding('corrupt', 'the database is in a state in which it never was')
}

async function examineBackup(root: string, copy: string, state: Tables): Promise<void> {
  const file = copyFile(root, copy)
  if (!existsSync(file)) throw new Finding('lost', `the backup "${copy}" is gone`)
  const folder = mkdtempSync(join(root, 'joined-'))
  const joined = join(folder, 'joined.db')
  try {
    await joinKeys(file, keysFile(root), joined, tablesOfFeatures())
    if (!isSame(tablesOf(joined), state, NOT_IN_BACKUPS))
      throw new Finding('corrupt', `the backup "${copy}" holds something else`)
  } catch (error) {
    throw error instanceof Finding
      ? error
      : new Finding('corrupt', `the backup "${copy}": ${(error as Error).message}`)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Makes an interrupted backup again, as an operator would: what the cut left must not prevent it. */
async function backUpAgain(root: string, copy: string, state: Tables): Promise<void> {
  const file = copyFile(root, copy)
  if (!existsSync(file)) {
    const core = await openCore(configOf(root))
    try {
      const order = { file, keysFile: keysFile(root), tables: core.store.tables }
      await makeBackup(sqliteFile(configOf(root)), order)
    } catch (error) {
      throw new Finding('corrupt', `a backup after the cut: ${(error as Error).message}`)
    } finally {
      await core.store.close()
    }
  }
  await examineBackup(root, copy, state)
}

async function examineRestored(
  root: string,
  { states, backups, restoreUnderWay, restored }: Expected,
): Promise<void> {
  const config = restoredConfigOf(root)
  const isThere = existsSync(sqliteFile(config))
  if (restored && !isThere) throw new Finding('lost', 'the restored database is gone')
  if (isThere) {
    const tables = await openWhole(config)
    if (restored && !isSame(tables, restored))
      throw new Finding('corrupt', 'the restored database holds something else')
  } else if (restoreUnderWay !== null) {
    // Restores another copy, so that nothing of the first attempt may be left in it.
    const [copy, state] = [...backups].find(([name]) => name !== restoreUnderWay)!
    await restoreDatabase(config, copyFile(root, copy), keysFile(root)).catch((error: Error) => {
      throw new Finding('corrupt', `a restore after the cut: ${error.message}`)
    })
    if (!isSame(await openWhole(config), states[state]!, CHANGED_BY_RESTORE))
      throw new Finding('corrupt', 'a restore after the cut holds something else')
  }
}
