/** Configuration: environment and file become one typed, validated, frozen object. `config/settings.ts` lists the settings. */

import { readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { docPath } from '../lib/doc-path.js'
import { ConfigError } from './config-error.js'
import { isPostgres } from './database-address.js'
import { defaultModelPack } from './default-model-pack.js'
import { DEPRECATED_SETTINGS, type Deprecations, deprecationWarnings } from './deprecated-settings.js'
import { CERTIFIED_LISTENERS, urlHost } from './listener-settings.js'
import type { OwnSettings, Settings } from './own-settings.js'
import { type ListenAddress, parseRate } from './parsers.js'
import type { Basis, Setting } from './setting.js'
import { type Config, SETTINGS, type SettingName } from './settings.js'
import { type Env, type GivenValue, readVariables } from './variables.js'
import { defaultWorkers } from './worker-limits.js'

export { type Config, ConfigError, isPostgres, type ListenAddress, parseRate, SETTINGS, type SettingName }

/** At most one setting of each group may be given: an order of precedence would be a trap. */
const ALTERNATIVES: readonly SettingName[][] = [
  ['masterKey', 'masterKeyCommand', 'masterKeyFile'],
  ['operatorPassword', 'operatorPasswordFile'],
]

/** Pairs of certificate and private key, which must be given together. */
const KEY_PAIRS: ReadonlyArray<readonly [SettingName, SettingName]> = [
  ['tlsCert', 'tlsKey'],
  ...CERTIFIED_LISTENERS.map((name) => [`${name}TlsCert`, `${name}TlsKey`] as const),
]

export interface Resolution {
  /** Values in effect. A value that cannot be read is replaced by its default. */
  config: Config
  /** Settings that were given and could be read: text by variable. */
  given: ReadonlyMap<string, GivenValue>
  /** Everything that is wrong, one sentence each. */
  problems: readonly string[]
  /** Given values that are ignored or deprecated, one sentence each. */
  warnings: readonly string[]
}

/**
 * Reads the environment and the configuration file that it names.
 * @param own settings of features @param deprecated settings to warn of; a test gives its own
 */
export function resolveConfig(
  env: Env = process.env,
  own: readonly OwnSettings[] = [],
  deprecated: Deprecations = DEPRECATED_SETTINGS,
): Resolution {
  const settings: Settings = Object.assign({}, SETTINGS, ...own.map((one) => one.settings))
  const variableOf = (name: SettingName) => SETTINGS[name].variable
  const { given, file, libraryVariables, problems, warnings } = readVariables(
    env,
    new Set(Object.values(settings).map(({ variable }) => variable)),
    own.flatMap(({ libraryPrefix }) => libraryPrefix ?? []),
  )
  const read = ({ variable, parse }: Setting): unknown => {
    const value = given.get(variable)
    if (!value) return undefined
    try {
      return parse(value.text, value.source === 'file' ? `${variable} in ${file}` : variable)
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      problems.push(...error.problems)
      given.delete(variable)
      return undefined
    }
  }
  const values: Record<string, unknown> = {}
  // In order: some defaults follow from settings before them.
  for (const [name, setting] of Object.entries(settings))
    values[name] = read(setting) ?? setting.whenUnset(values as unknown as Basis)
  const settled = given.has(variableOf('modelPack')) || defaultModelPack(values.modelsDir as string).isSettled
  const config = Object.freeze({
    ...values,
    isModelPackSettled: settled,
    workersLimit: given.has(variableOf('workers'))
      ? variableOf('workers')
      : defaultWorkers(values as unknown as Basis).limit,
    isOperatorPasswordFileGiven: given.has(variableOf('operatorPasswordFile')),
    libraryVariables,
  }) as Config
  for (const group of ALTERNATIVES) {
    const set = group.map(variableOf).filter((variable) => given.has(variable))
    if (set.length > 1) problems.push(`${set.join(' and ')} are both set. Give only one of them.`)
  }
  if ((config.oidcIssuer === undefined) !== (config.oidcClientId === undefined))
    problems.push(`${variableOf('oidcIssuer')} and ${variableOf('oidcClientId')} must be given together.`)
  if (!config.operatorPasswordSignIn && config.oidcIssuer === undefined)
    problems.push(
      `${variableOf('operatorPasswordSignIn')} is false without ${variableOf('oidcIssuer')}, so no operator could sign in. Set an issuer, or leave this setting out.`,
    )
  if (followingPackDirs(config).includes(modelPackDir(config)))
    problems.push(
      `${variableOf('followingPacks')} names the pack of ${variableOf('modelPack')}. Name only other packs.`,
    )
  for (const pair of KEY_PAIRS) {
    const files = pair.map((name) => config[name] as string | undefined)
    if ((files[0] === undefined) !== (files[1] === undefined))
      problems.push(`${pair.map(variableOf).join(' and ')} must be given together.`)
    for (const file of files) if (file) problems.push(...unreadable(file))
  }
  if (config.clientCa !== undefined) {
    problems.push(...unreadable(config.clientCa))
    if (config.tlsCert === undefined)
      problems.push(
        `${variableOf('clientCa')} needs ${variableOf('tlsCert')}: callers show client certificates where TLS ends.`,
      )
    if (config.http !== 'node')
      problems.push(
        `${variableOf('clientCa')} needs ${variableOf('http')}=node: uWebSockets.js does not report client certificates.`,
      )
  }
  if (config.bodyMemoryBytes < config.maxBodyBytes)
    problems.push(
      `${variableOf('bodyMemoryBytes')} (${config.bodyMemoryBytes}) must not be less than ${variableOf('maxBodyBytes')} (${config.maxBodyBytes}).`,
    )
  if (config.processes !== 'auto' && config.processes > 1 && !isPostgres(config))
    problems.push(
      `${variableOf('processes')} is ${config.processes}, but only one process can serve a SQLite database. Several need PostgreSQL (${docPath('postgresql.md')}).`,
    )
  for (const one of own) problems.push(...(one.problems?.(config as never, config) ?? []))
  warnings.push(...deprecationWarnings(given, deprecated))
  return { config, given, problems, warnings }
}

/** @throws ConfigError naming everything that is wrong: the variable, its value and what was expected. */
export function loadConfig(env: Env = process.env, own: readonly OwnSettings[] = []): Config {
  const { config, problems } = resolveConfig(env, own)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** One sentence that says why a file cannot be read, or an empty list. */
export function unreadable(file: string): string[] {
  try {
    readFileSync(file)
    return []
  } catch (cause) {
    return [`Cannot read ${file}: ${(cause as Error).message}`]
  }
}

/** The folder of the configured pack: a path as given, a name inside the models folder. */
export function modelPackDir({ modelPack, modelsDir }: Config): string {
  return packDir(modelPack, modelsDir)
}

/** The folders of the packs that follow. */
export function followingPackDirs({ followingPacks, modelsDir }: Config): string[] {
  return followingPacks.map((pack) => packDir(pack, modelsDir))
}

/** The folder of a pack: a path as given, a name inside the models folder. */
export function packDir(pack: string, modelsDir: string): string {
  return isAbsolute(pack) || pack.includes('/') ? resolve(pack) : join(modelsDir, pack)
}

/** The file behind `sqlite:<path>`. */
export function sqliteFile(config: Pick<Config, 'database'>): string {
  const match = /^sqlite:(.+)$/.exec(config.database)
  if (!match)
    throw new ConfigError(
      'COUNTERSIGN_DATABASE is not supported: expected sqlite:<file>, such as sqlite:data/countersign.db, or postgres://<user>@<host>/<database>.',
    )
  return resolve(match[1]!)
}

export type Environment = 'production' | 'sandbox'

/** Base URL of an environment, ending in /v1: what its JWTs carry as `iss`. */
export function environmentUrl(config: Config, environment: Environment): string {
  const configured = environment === 'production' ? config.productionUrl : config.sandboxUrl
  if (configured) return configured
  const { host, port } = environment === 'production' ? config.productionListen : config.sandboxListen
  return `${config.tlsCert ? 'https' : 'http'}://${urlHost(host)}:${port}/v1`
}

export function adminUrl(config: Config): string {
  const { host, port } = config.adminListen
  return config.adminUrl ?? `${config.adminTlsCert ? 'https' : 'http'}://${urlHost(host)}:${port}`
}

/** Host names by which the admin and metrics listeners may be reached, besides IP addresses. */
export function adminHosts(config: Config): Set<string> {
  const { adminListen, metricsListen, adminHosts: named = [] } = config
  const listened = [adminListen, metricsListen].flatMap((address) => (address ? [address.host] : []))
  const names = ['localhost', new URL(adminUrl(config)).hostname, ...listened, ...named]
  return new Set(names.map((name) => name.toLowerCase()))
}
