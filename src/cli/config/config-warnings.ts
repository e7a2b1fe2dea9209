/** Finds what a configuration may contain but should not, and examines its TLS files. */
import { statSync } from 'node:fs'
import { ALL_SETTINGS } from '../../app/configuration.js'
import {
  type Config,
  isPostgres,
  type Resolution,
  SETTINGS,
  type SettingName,
  sqliteFile,
} from '../../config/config.js'
import { CERTIFIED_LISTENERS, certificateFiles, originOf } from '../../config/listener-settings.js'
import { isLoopbackHost } from '../../config/loopback-host.js'
import { isKeyFileUsed } from '../../crypto/master-key.js'
import { examineTls, namesOtherThan, type TlsFiles, type TlsReport } from '../../http/listeners/tls-files.js'

const PASSWORD_IN_URL = /:\/\/[^/@]*:[^/@]*@/

export interface ConfigWarning {
  /** One sentence. */
  detail: string
  /** How to mend it, where the message does not say so. */
  remedy?: string
}

export function configWarnings(resolution: Resolution): ConfigWarning[] {
  return [
    ...[...resolution.warnings, ...addressWarnings(resolution.config)].map((detail) => ({ detail })),
    ...openToAll(secretFiles(resolution), 'contains a secret'),
    ...openToAll(databaseFiles(resolution.config), "holds users' data"),
    ...openToAll(keyFolders(resolution.config), 'holds keys'),
  ]
}

/** Reports on each configured certificate, compared with the URLs by which its listeners are reached. */
export function tlsReports(config: Config): TlsReport[] {
  const pairs = new Map<string, { files: TlsFiles; urls: Array<SettingName & `${string}Url`> }>()
  // Listeners may share files, which are reported once.
  for (const listener of ['api', ...CERTIFIED_LISTENERS] as const) {
    const files = certificateFiles(config, listener)
    if (!files) continue
    const urls = listener === 'api' ? (['productionUrl', 'sandboxUrl'] as const) : [`${listener}Url` as const]
    const name = `${files.certFile}\0${files.keyFile}`
    pairs.set(name, { files, urls: [...(pairs.get(name)?.urls ?? []), ...urls] })
  }
  return [...pairs.values()].map(({ files, urls }) => {
    const report = examineTls(files, Date.now())
    return { ...report, problems: [...report.problems, ...nameProblems(config, files, urls)] }
  })
}

/** Checks the certificate's names, which callers compare with the URL. Where a proxy ends TLS, the proxy judges the certificate. */
function nameProblems(
  config: Config,
  { certFile }: TlsFiles,
  urls: ReadonlyArray<SettingName & `${string}Url`>,
): string[] {
  if (config.tlsTerminatedUpstream) return []
  return urls.flatMap((name) => {
    const url = config[name]
    if (url === undefined || !url.startsWith('https:')) return []
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '')
    const names = namesOtherThan(certFile, host)
    return names === null
      ? []
      : [`The TLS certificate ${certFile} is for ${names}, and ${SETTINGS[name].variable} is ${url}.`]
  })
}

function addressWarnings(config: Config): string[] {
  const { adminListen, adminTlsCert, tlsTerminatedUpstream } = config
  const urls = (['productionUrl', 'sandboxUrl'] as const)
    .filter((name) => config[name] !== undefined && !config[name].endsWith('/v1'))
    .map((name) => `${SETTINGS[name].variable} is ${config[name]}, which does not end in /v1.`)
  const capture = originOf(config, 'capture')
  if (capture?.startsWith('http:') && !isLoopbackHost(new URL(capture).hostname))
    urls.push(
      `The hosted capture page is reached at ${capture}, but browsers allow cameras only on https pages: set ${SETTINGS.captureTlsCert.variable} and ${SETTINGS.captureTlsKey.variable}, or ${SETTINGS.captureUrl.variable} where TLS ends in front.`,
    )
  if (isLoopbackHost(adminListen.host) || adminTlsCert || tlsTerminatedUpstream) return urls
  return [
    ...urls,
    `${SETTINGS.adminListen.variable} is ${adminListen.host}:${adminListen.port}, which other hosts may reach, without TLS: ` +
      `operators' passwords would cross the network in the clear. Listen on loopback, or set ${SETTINGS.adminTlsCert.variable} and ${SETTINGS.adminTlsKey.variable}.`,
  ]
}

function openToAll(paths: string[], what: string): ConfigWarning[] {
  if (process.platform === 'win32') return []
  return paths
    .map((path) => ({ path, ...accessOf(path) }))
    .filter(({ mode }) => (mode & 0o007) !== 0)
    .map(({ path, mode, isFolder }) => ({
      detail: `${path} ${what} and is open to every user here (mode ${mode.toString(8)}).`,
      remedy: `chmod ${isFolder ? 700 : 600} ${path}, or mount it with another mode`,
    }))
}

/** Permissions of a file, or 0 where it cannot be reached: other checks report that it cannot be read. */
function accessOf(path: string): { mode: number; isFolder: boolean } {
  try {
    const found = statSync(path)
    return { mode: found.mode & 0o777, isFolder: found.isDirectory() }
  } catch {
    return { mode: 0, isFolder: false }
  }
}

/** Checks the database file: new ones are closed to other users, but those of earlier versions or made by hand may not be. */
function databaseFiles(config: Config): string[] {
  // Another check reports a value that names no SQLite database.
  if (!config.database.startsWith('sqlite:')) return [config.dataDir]
  const database = sqliteFile(config)
  return [config.dataDir, database, `${database}-wal`]
}

function keyFolders(config: Config): string[] {
  const paths = Object.entries(ALL_SETTINGS).filter(([, { holdsKeys }]) => holdsKeys)
  return paths.flatMap(([name]) => (config[name as SettingName] as string | undefined) ?? [])
}

function secretFiles({ config, given }: Resolution): string[] {
  const isInFile = ({ variable }: { variable: string }) => given.get(variable)?.source === 'file'
  const holdsSecret =
    Object.values(ALL_SETTINGS).some((setting) => setting.isSecret && isInFile(setting)) ||
    (isPostgres(config) && PASSWORD_IN_URL.test(config.database) && isInFile(SETTINGS.database))
  const used = ({ configFile, operatorPassword, operatorPasswordFile, masterKeyFile, ...files }: Config) => [
    ...(holdsSecret ? [configFile] : []),
    ...(isKeyFileUsed(config) ? [masterKeyFile] : []),
    ...(operatorPassword === undefined ? [operatorPasswordFile] : []),
    files.tlsKey,
    files.adminTlsKey,
    files.captureTlsKey,
    files.openidTlsKey,
    files.oidcClientSecretFile,
    files.databasePasswordFile,
  ]
  return used(config).filter((file) => file !== undefined)
}
