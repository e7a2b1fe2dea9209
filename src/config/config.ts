/** Configuration: environment and file become one typed, validated, frozen object; config/settings.ts says what there is to set. */
import { readFileSync } from 'node:fs'
import { isAbsolute, join, resolve } from 'node:path'
import { ConfigError } from './config-error.js'
import { defaultModelPack } from './default-model-pack.js'
import { type ListenAddress, parseRate } from './parsers.js'
import { isPostgresUrl } from './postgres-url.js'
import { type Basis, type Config, SETTINGS, type Setting, type SettingName } from './settings.js'
import { type Env, type GivenValue, readVariables } from './variables.js'

export { type Config, ConfigError, type ListenAddress, parseRate, SETTINGS, type SettingName }

/** Of each group one is given at most: which of two wins would be a trap. */
const ALTERNATIVES: readonly SettingName[][] = [
  ['masterKey', 'masterKeyCommand', 'masterKeyFile'],
  ['operatorPassword', 'operatorPasswordFile'],
]

/** Certificate and private key. */
const KEY_PAIRS = [
  ['tlsCert', 'tlsKey'],
  ['adminTlsCert', 'adminTlsKey'],
  ['captureTlsCert', 'captureTlsKey'],
] as const

export interface Resolution {
  /** What is in effect; in the place of a value that cannot be read stands its default. */
  config: Config
  /** What was set and could be read, as text, by variable. */
  given: ReadonlyMap<string, GivenValue>
  /** Everything that is wrong, a sentence each. */
  problems: readonly string[]
  /** What is left out of account, a sentence each. */
  warnings: readonly string[]
}

/** Reads the environment and the configuration file that it names. */
export function resolveConfig(env: Env = process.env): Resolution {
  const names = Object.keys(SETTINGS) as SettingName[]
  const variableOf = (name: SettingName) => SETTINGS[name].variable
  const { given, file, otelVariables, problems, warnings } = readVariables(
    env,
    new Set(names.map(variableOf)),
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
  // One after the other: some defaults follow from settings before them.
  for (const name of names)
    values[name] = read(SETTINGS[name]) ?? SETTINGS[name].whenUnset(values as unknown as Basis)
  const settled = given.has(variableOf('modelPack')) || defaultModelPack(values.modelsDir as string).isSettled
  const config = Object.freeze({
    ...values,
    isModelPackSettled: settled,
    isOperatorPasswordFileGiven: given.has(variableOf('operatorPasswordFile')),
    otelVariables,
  }) as Config
  for (const group of ALTERNATIVES) {
    const set = group.map(variableOf).filter((variable) => given.has(variable))
    if (set.length > 1) problems.push(`${set.join(' and ')} are both set; give one of them.`)
  }
  if ((config.oidcIssuer === undefined) !== (config.oidcClientId === undefined))
    problems.push(`${variableOf('oidcIssuer')} and ${variableOf('oidcClientId')} must be given together.`)
  if (!config.operatorPasswordSignIn && config.oidcIssuer === undefined)
    problems.push(
      `${variableOf('operatorPasswordSignIn')} is false without ${variableOf('oidcIssuer')}: no operator could sign in. Set an issuer, or leave it out.`,
    )
  for (const pair of KEY_PAIRS) {
    const files = pair.map((name) => config[name])
    if ((files[0] === undefined) !== (files[1] === undefined))
      problems.push(`${pair.map(variableOf).join(' and ')} must be given together.`)
    for (const file of files) if (file) problems.push(...unreadable(file))
  }
  if (config.clientCa !== undefined) {
    problems.push(...unreadable(config.clientCa))
    if (config.tlsCert === undefined)
      problems.push(
        `${variableOf('clientCa')} needs ${variableOf('tlsCert')}: client certificates are shown where TLS ends.`,
      )
    if (config.http !== 'node')
      problems.push(
        `${variableOf('clientCa')} needs ${variableOf('http')}=node: uWebSockets.js tells of no client certificate.`,
      )
  }
  if (config.epochKeys !== undefined && !isPostgres(config))
    problems.push(
      `${variableOf('epochKeys')} is for PostgreSQL: with SQLite, backups hold no data keys (docs/operations.md).`,
    )
  if (config.bodyMemoryBytes < config.maxBodyBytes)
    problems.push(
      `${variableOf('bodyMemoryBytes')} (${config.bodyMemoryBytes}) must not be less than ${variableOf('maxBodyBytes')} (${config.maxBodyBytes}).`,
    )
  if (config.processes !== 'auto' && config.processes > 1 && !isPostgres(config))
    problems.push(
      `${variableOf('processes')} is ${config.processes}, and a SQLite database is served by one process: several need PostgreSQL (docs/postgresql.md).`,
    )
  return { config, given, problems, warnings }
}

/** @throws ConfigError naming everything that is wrong: the variable, its value and what was expected. */
export function loadConfig(env: Env = process.env): Config {
  const { config, problems } = resolveConfig(env)
  if (problems.length > 0) throw new ConfigError(problems)
  return config
}

/** What keeps a file from being read, a sentence; else nothing. */
export function unreadable(file: string): string[] {
  try {
    readFileSync(file)
    return []
  } catch (cause) {
    return [`Cannot read ${file}: ${(cause as Error).message}`]
  }
}

/** The folder of the configured pack: a path as it is, a name inside the models folder. */
export function modelPackDir(config: Config): string {
  const { modelPack, modelsDir } = config
  return isAbsolute(modelPack) || modelPack.includes('/') ? resolve(modelPack) : join(modelsDir, modelPack)
}

/** PostgreSQL, in the place of a SQLite file. */
export function isPostgres({ database }: Pick<Config, 'database'>): boolean {
  return isPostgresUrl(database)
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

/** Origin of the hosted capture page; null where it is not served. */
export function captureOrigin({ captureListen, captureUrl, captureTlsCert }: Config): string | null {
  if (!captureListen) return null
  const { host, port } = captureListen
  return captureUrl ?? new URL(`${captureTlsCert ? 'https' : 'http'}://${urlHost(host)}:${port}`).origin
}

/** The names by which the admin and metrics listeners are reached; IP addresses besides. */
export function adminHosts(config: Config): Set<string> {
  const { adminListen, metricsListen, adminHosts: named = [] } = config
  const listened = [adminListen, metricsListen].flatMap((address) => (address ? [address.host] : []))
  const names = ['localhost', new URL(adminUrl(config)).hostname, ...listened, ...named]
  return new Set(names.map((name) => name.toLowerCase()))
}

function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
