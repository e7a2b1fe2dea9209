/** A setting: its variable, default, parser and documentation. The core and features declare theirs with these functions. */
import { text } from './parsers.js'

/** Settings from which defaults of later settings are made. */
export interface Basis {
  dataDir: string
  modelsDir: string
  workers: number
  processes: number | 'auto'
  database: string
  oidcIssuer: string | undefined
}

/** @typeParam Unset type of the value where the variable is not set: undefined for a setting that may be absent */
export interface Setting<Value = unknown, Unset = Value | undefined> {
  variable: string
  /** The default as text, or undefined where it is computed or absent. */
  fallback: string | undefined
  description: string
  /** The value is never shown. Such a setting has a companion, `<variable>_FILE`. */
  isSecret: boolean
  /** The value is the path of keys, which nobody else of the machine should open. */
  holdsKeys?: boolean
  parse(text: string, variable: string): Value
  /** The value as text. Default: a list joined by commas, an address as host and port, anything else as it is. */
  show?(value: Value): string
  whenUnset(basis: Basis): Unset
}

type Parser<Value> = (text: string, variable: string) => Value

/** A setting with a fixed default. */
export function setting<Value>(
  name: string,
  fallback: string,
  description: string,
  parse: Parser<Value>,
): Setting<Value, Value> {
  const variable = `COUNTERSIGN_${name}`
  const whenUnset = () => parse(fallback, variable)
  return { variable, fallback, description, isSecret: false, parse, whenUnset }
}

/** A setting whose default follows from other settings or from the machine. */
export function derived<Value>(
  name: string,
  whenUnset: (basis: Basis) => Value,
  description: string,
  parse: Parser<Value>,
): Setting<Value, Value> {
  return { ...optional(name, description, parse), whenUnset }
}

/** A setting that is undefined where it is not given. */
export function optional<Value>(
  name: string,
  description: string,
  parse: Parser<Value>,
): Setting<Value, undefined> {
  const variable = `COUNTERSIGN_${name}`
  return { variable, fallback: undefined, description, isSecret: false, parse, whenUnset: () => undefined }
}

export function secret(name: string, description: string): Setting<string, undefined> {
  return { ...optional(name, description, text), isSecret: true }
}

/** The type of a setting's value in effect. */
export type ValueOf<S> = S extends Setting<infer Value, infer Unset> ? Value | Unset : never
