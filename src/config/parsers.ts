/** Parsers of settings: each turns text into a value, or throws a ConfigError with the variable, the text and what was expected. */
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { ConfigError } from './config-error.js'
import { falseMatchRateProblem } from './false-match-rate.js'

export interface ListenAddress {
  host: string
  /** Port 0 lets the system choose one. */
  port: number
}

/** Each process has a dozen connections to the database. */
const MAX_PROCESSES = 64

/** @throws ConfigError */
export function fail(variable: string, text: string, expected: string): never {
  throw new ConfigError(`${variable} is ${JSON.stringify(text)}; expected ${expected}.`)
}

/** @param otherwise what the caller accepts besides, for the message */
export function integer(minimum: number, maximum: number, otherwise = '') {
  return (text: string, variable: string): number => {
    const value = Number(text)
    if (!Number.isSafeInteger(value) || value < minimum || value > maximum)
      fail(variable, text, `${otherwise}a whole number from ${minimum} to ${maximum}`)
    return value
  }
}

/** Like `integer`, or 0, which turns the setting off. */
export function integerOrOff(minimum: number, maximum: number) {
  const parse = integer(minimum, maximum, '0 or ')
  return (text: string, variable: string): number => (Number(text) === 0 ? 0 : parse(text, variable))
}

export function processes(text: string, variable: string): number | 'auto' {
  return text === 'auto' ? text : integer(1, MAX_PROCESSES, 'auto or ')(text, variable)
}

export function oneOf<const T extends string>(...values: T[]) {
  return (text: string, variable: string): T =>
    values.find((value) => value === text) ?? fail(variable, text, `one of ${values.join(', ')}`)
}

export function boolean(text: string, variable: string): boolean {
  return oneOf('true', 'false')(text, variable) === 'true'
}

export function listenAddress(text: string, variable: string): ListenAddress {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text)
  const port = Number(match?.[3])
  if (!match || port > 65535) fail(variable, text, 'host:port, such as 127.0.0.1:8080 or [::1]:8080')
  return { host: (match[1] ?? match[2])!, port }
}

export function falseMatchRate(text: string, variable: string): number {
  const problem = falseMatchRateProblem(text, variable)
  if (problem) throw new ConfigError(problem)
  return Number(text)
}

/** `50`, `50/s` or `0.5/s`, in requests per second. */
export function parseRate(text: string, name: string): number {
  const match = /^(\d+(?:\.\d+)?)(?:\/s)?$/.exec(text.trim())
  const value = Number(match?.[1])
  if (!match || !(value > 0) || value > 1_000_000) fail(name, text, 'requests per second, such as 50/s')
  return value
}

export function baseUrl(text: string, variable: string): string {
  let url: URL
  try {
    url = new URL(text)
  } catch {
    fail(variable, text, 'an absolute http(s) URL')
  }
  if (!/^https?:$/.test(url.protocol)) fail(variable, text, 'an absolute http(s) URL')
  return text.replace(/\/+$/, '')
}

/** A base URL without a path. */
export function origin(text: string, variable: string): string {
  const url = new URL(baseUrl(text, variable))
  if (url.pathname !== '/' || url.search || url.hash)
    fail(variable, text, 'a URL without a path, such as https://capture.example.com')
  return url.origin
}

/** A URL exactly as written: issuers are compared letter by letter. */
export function issuer(text: string, variable: string): string {
  baseUrl(text, variable)
  return text
}

export function text(value: string): string {
  return value
}

/** A group of an OpenID provider, with the tenant and role that it gives. */
export interface TenantGroup {
  group: string
  /** Name of the tenant. */
  tenant: string
  role: 'admin' | 'viewer'
}

/** `<group>=<tenant>:<role>`, separated by commas. */
export function tenantGroups(text: string, variable: string): TenantGroup[] {
  return listed(text).map((entry) => {
    const [, group, tenant, role] = /^(.+)=([^=:]+):(admin|viewer)$/.exec(entry) ?? []
    if (!group || !tenant || !role)
      fail(variable, text, '<group>=<tenant>:admin or <group>=<tenant>:viewer, separated by commas')
    return { group, tenant, role: role as TenantGroup['role'] }
  })
}

/** A path made absolute from the folder in which the command was started. */
export function path(value: string): string {
  return resolve(value)
}

/** Texts, separated by commas. */
export function listed(value: string): string[] {
  return value
    .split(',')
    .map((one) => one.trim())
    .filter(Boolean)
}

export function nameList(value: string): string[] {
  return listed(value.toLowerCase())
}

/** Every worker loads the networks of each pack, and each pack embeds every face: more than two would cost too much. */
const MAX_FOLLOWING_PACKS = 2

/** Different names or paths of packs, separated by commas. */
export function packList(value: string, variable: string): string[] {
  const packs = listed(value)
  if (packs.length > MAX_FOLLOWING_PACKS || new Set(packs).size < packs.length)
    fail(variable, value, `at most ${MAX_FOLLOWING_PACKS} different packs, separated by commas`)
  return packs
}

/** A share over 0 and at most 1. */
export function share(text: string, variable: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 1)) fail(variable, text, 'a share over 0 and at most 1, such as 0.1')
  return value
}

/** Addresses and networks of both families, separated by commas. */
export function networkList(value: string, variable: string): string[] {
  const networks = nameList(value)
  for (const network of networks)
    if (!isNetwork(network)) fail(variable, network, 'addresses or networks, such as 10.0.0.0/8,::1')
  return networks
}

/** Whether the text is an IP address or a network in CIDR notation. */
export function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/')
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)]!
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits)
  return bits > 0 && isPrefix && rest.length === 0
}
