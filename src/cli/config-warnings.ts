/** What is allowed in a configuration, and unwise; and what its TLS files are worth. */
import { statSync } from 'node:fs'
import { type Config, type Resolution, SETTINGS, sqliteFile } from '../config.js'
import { isKeyFileUsed } from '../crypto/master-key.js'
import { examineTls, type TlsFiles, type TlsReport } from '../tls-files.js'

/** A sentence each. */
export function configWarnings(resolution: Resolution): string[] {
  return [
    ...resolution.warnings,
    ...openToAll(secretFiles(resolution), 'holds a secret'),
    ...openToAll(databaseFiles(resolution.config), "holds users' data"),
  ]
}

/** Of each certificate that is configured. */
export function tlsReports({ tlsCert, tlsKey, adminTlsCert, adminTlsKey }: Config): TlsReport[] {
  const pairs = new Map<string, TlsFiles>()
  // Both listeners may have the same files, which are told of once.
  for (const [certFile, keyFile] of [
    [tlsCert, tlsKey],
    [adminTlsCert, adminTlsKey],
  ])
    if (certFile && keyFile) pairs.set(`${certFile}\0${keyFile}`, { certFile, keyFile })
  return [...pairs.values()].map((files) => examineTls(files, Date.now()))
}

/** What every user of the machine may open. */
function openToAll(paths: string[], what: string): string[] {
  if (process.platform === 'win32') return []
  return paths
    .map((path) => ({ path, mode: modeOf(path) }))
    .filter(({ mode }) => (mode & 0o007) !== 0)
    .map(({ path, mode }) => `${path} ${what} and is open to every user here (mode ${mode.toString(8)}).`)
}

/** 0 for what nobody can reach: whether it can be read is asked elsewhere. */
function modeOf(path: string): number {
  try {
    return statSync(path).mode & 0o777
  } catch {
    return 0
  }
}

/** New ones are closed; those of an earlier version, or made by hand, need not be. */
function databaseFiles(config: Config): string[] {
  // What is no SQLite database is told as a problem elsewhere.
  if (!config.database.startsWith('sqlite:')) return [config.dataDir]
  const database = sqliteFile(config)
  return [config.dataDir, database, `${database}-wal`]
}

function secretFiles({ config, given }: Resolution): string[] {
  const holdsSecret = Object.values(SETTINGS).some(
    ({ isSecret, variable }) => isSecret && given.get(variable)?.source === 'file',
  )
  const used = ({ configFile, operatorPassword, operatorPasswordFile, masterKeyFile, ...files }: Config) => [
    ...(holdsSecret ? [configFile] : []),
    ...(isKeyFileUsed(config) ? [masterKeyFile] : []),
    ...(operatorPassword === undefined ? [operatorPasswordFile] : []),
    files.tlsKey,
    files.adminTlsKey,
    files.oidcClientSecretFile,
  ]
  return used(config).filter((file) => file !== undefined)
}
