/** Checks of `doctor` that try the configuration, as `serve` would use it. */

import { statfs } from 'node:fs/promises'
import { type Config, isPostgres } from '../../config/config.js'
import { docPath } from '../../lib/doc-path.js'
import { nearestFolder } from '../../lib/nearest-folder.js'
import { tlsReports } from '../config/config-warnings.js'
import { tryBackups } from '../lib/try-backups.js'
import type { Finding } from './doctor-finding.js'
import { askReadiness, tryAddresses, tryWriting } from './trials.js'

const MIN_FREE_BYTES = 1 << 30

export async function checkKeyCommand(config: Config): Promise<Finding> {
  const check = 'key command'
  try {
    const { masterKeyOf } = await import('../../app/core.js')
    await masterKeyOf(config)
    return { check, status: 'ok', detail: 'prints a master key' }
  } catch (error) {
    const remedy = 'run it in a shell, as the user who runs the service'
    return { check, status: 'problem', detail: (error as Error).message, remedy }
  }
}

export async function checkBackups(config: Config): Promise<Finding> {
  if (isPostgres(config))
    return { check: 'backups', status: 'ok', detail: "made with PostgreSQL's own tools; not checked here" }
  const { warnings } = await tryBackups(config, Date.now())
  return {
    check: 'backups',
    ...(warnings[0]
      ? { status: 'warning', detail: warnings[0], remedy: 'run countersign backup by a timer' }
      : { status: 'ok', detail: 'none is overdue' }),
  }
}

export async function checkAddresses(config: Config): Promise<Finding> {
  const check = 'addresses'
  const { problems, isServing } = await tryAddresses(config)
  if (problems.length > 0)
    return {
      check,
      status: 'problem',
      detail: problems.join(' '),
      remedy: 'stop the program that listens there, or choose other addresses (COUNTERSIGN_*_LISTEN)',
    }
  return { check, status: 'ok', detail: isServing ? 'a Countersign service listens there' : 'free' }
}

/** Findings about the service that listens at the admin address, if there is one. */
export async function checkReadiness(config: Config): Promise<Finding[]> {
  const check = 'readiness'
  const readiness = await askReadiness(config)
  if (readiness === null) return []
  const { reasons, warnings } = readiness
  const replaced: Finding = {
    check,
    status: 'warning',
    detail: 'the files of the running service were replaced since it started',
    remedy: `restart it, and unpack the next version into a folder of its own: ${docPath('upgrade-policy.md#upgrading')}`,
  }
  const old = warnings.includes('files_replaced') ? [replaced] : []
  if (reasons.length === 0) return [{ check, status: 'ok', detail: 'the running service is ready' }, ...old]
  return [
    ...old,
    {
      check,
      status: 'problem',
      detail: `the running service is not ready: ${reasons.join(', ')}`,
      remedy: `see ${docPath('operations/runbooks.md')}#${reasons[0]}`,
    },
  ]
}

export async function checkDisk(config: Config): Promise<Finding> {
  const check = 'disk'
  const { problems } = tryWriting(config)
  if (problems.length > 0)
    return {
      check,
      status: 'problem',
      detail: problems.join(' '),
      remedy: 'set COUNTERSIGN_DATA_DIR to another folder, or change the owner of this one',
    }
  const folder = nearestFolder(config.dataDir)
  const { bavail, bsize } = await statfs(folder)
  const free = bavail * bsize
  const detail = `${(free / 2 ** 30).toFixed(1)} GiB free for ${config.dataDir}`
  return free < MIN_FREE_BYTES
    ? { check, status: 'warning', detail, remedy: 'free space, or the database can soon grow no more' }
    : { check, status: 'ok', detail }
}

export function checkTls(config: Config): Finding[] {
  const check = 'TLS'
  const remedy = `get a new certificate and key; see ${docPath('operations/tls.md')}`
  return tlsReports(config).flatMap(({ problems, warnings, expiresAt }): Finding[] => {
    const told = [...problems, ...warnings]
    if (told.length > 0)
      return told.map((detail, i) => ({
        check,
        status: i < problems.length ? 'problem' : 'warning',
        detail,
        remedy,
      }))
    const expiry = new Date(expiresAt!).toISOString().slice(0, 10)
    return [{ check, status: 'ok', detail: `certificate and key belong together; valid until ${expiry}` }]
  })
}
