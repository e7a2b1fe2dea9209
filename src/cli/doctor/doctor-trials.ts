/** Checks of `doctor` that try the configuration, as `serve` would use it. */

import { statfs } from 'node:fs/promises'
import { type Config, isPostgres } from '../../config/config.js'
import { docPath } from '../../lib/doc-path.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import { tlsReports } from '../config/config-warnings.js'
import { type Finding, findingsOf } from '../lib/finding.js'
import { overdueBackup } from '../lib/overdue-backup.js'
import { askReadiness, tryAddresses, tryWriting } from './trials.js'

const MIN_FREE_BYTES = 1 << 30

export async function checkKeyCommand(config: Config): Promise<Finding> {
  const { ok, problem } = findingsOf('key command')
  try {
    const { masterKeyOf } = await import('../../app/core.js')
    await masterKeyOf(config)
    return ok('prints a master key')
  } catch (error) {
    return problem((error as Error).message, 'run it in a shell, as the user who runs the service')
  }
}

export async function checkBackups(config: Config): Promise<Finding> {
  const { ok, warning } = findingsOf('backups')
  if (isPostgres(config)) return ok("made with PostgreSQL's own tools; not checked here")
  const overdue = await overdueBackup(config, Date.now())
  return overdue === null ? ok('none is overdue') : warning(overdue, 'run countersign backup by a timer')
}

export async function checkAddresses(config: Config): Promise<Finding> {
  const { ok, problem } = findingsOf('addresses')
  const { problems, isServing } = await tryAddresses(config)
  if (problems.length === 0) return ok(isServing ? 'a Countersign service listens there' : 'free')
  return problem(
    problems.join(' '),
    'stop the program that listens there, or choose other addresses (COUNTERSIGN_*_LISTEN)',
  )
}

/** Findings about the service that listens at the admin address, if there is one. */
export async function checkReadiness(config: Config): Promise<Finding[]> {
  const { ok, warning, problem } = findingsOf('readiness')
  const readiness = await askReadiness(config)
  if (readiness === null) return []
  const { reasons, warnings } = readiness
  const replaced = warning(
    'the files of the running service were replaced since it started',
    `restart it, and unpack the next version into a folder of its own: ${docPath('upgrade-policy.md#upgrading')}`,
  )
  const old = warnings.includes('files_replaced') ? [replaced] : []
  if (reasons.length === 0) return [ok('the running service is ready'), ...old]
  const remedy = `see ${docPath('operations/runbooks.md')}#${reasons[0]}`
  return [...old, problem(`the running service is not ready: ${reasons.join(', ')}`, remedy)]
}

export async function checkDisk(config: Config): Promise<Finding> {
  const { ok, warning, problem } = findingsOf('disk')
  const problems = tryWriting(config)
  if (problems.length > 0)
    return problem(
      problems.join(' '),
      'set COUNTERSIGN_DATA_DIR to another folder, or change the owner of this one',
    )
  const folder = nearestFolder(config.dataDir)
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const detail = `${(free / 2 ** 30).toFixed(1)} GiB free for ${config.dataDir}`
  return free < MIN_FREE_BYTES
    ? warning(detail, 'free space, or the database can soon grow no more')
    : ok(detail)
}

export function checkTls(config: Config): Finding[] {
  const { ok, warning, problem } = findingsOf('TLS')
  const remedy = `get a new certificate and key; see ${docPath('operations/tls.md')}`
  return tlsReports(config).flatMap(({ problems, warnings, expiresAt }): Finding[] => {
    if (problems.length + warnings.length > 0)
      return [
        ...problems.map((detail) => problem(detail, remedy)),
        ...warnings.map((detail) => warning(detail, remedy)),
      ]
    const expiry = new Date(expiresAt!).toISOString().slice(0, 10)
    return [ok(`certificate and key belong together; valid until ${expiry}`)]
  })
}
