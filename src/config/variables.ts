/** What was set, and where: environment and configuration file as one, before anything is parsed. */
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { closestMatch } from 'leven'

export type Env = Record<string, string | undefined>

export interface GivenValue {
  text: string
  source: 'environment' | 'file'
}

export interface Variables {
  given: Map<string, GivenValue>
  /** Absolute or relative as it was named; undefined where no file was. */
  file: string | undefined
  /** OTEL_* names of the file that are no settings of ours: OpenTelemetry's own, which defines them. */
  otelVariables: Record<string, string>
  problems: string[]
  /** Names in the environment that are no settings, a sentence each. */
  warnings: string[]
}

export const CONFIG_VARIABLE = 'COUNTERSIGN_CONFIG'

const PREFIX = 'COUNTERSIGN_'
const OTEL_PREFIX = 'OTEL_'
const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s
/** Empty, or a comment. */
const NO_ASSIGNMENT = /^\s*(?:#|$)/
/** More typing errors than that are another word. */
const MAX_TYPING_ERRORS = 3
/** Kubernetes puts these into every pod of a namespace with a Service whose name begins with "countersign". */
const SERVICE_LINK =
  /^COUNTERSIGN_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/

/**
 * The environment wins over the file that it names. An empty variable counts as absent. A file is ours alone, so a name in it that
 * is no setting, of ours or of OpenTelemetry, is an error; the environment is shared, with a newer version that was rolled back to this one, too.
 */
export function readVariables(env: Env, known: ReadonlySet<string>): Variables {
  const given = new Map<string, GivenValue>()
  const problems: string[] = []
  const warnings: string[] = []
  const otelVariables: Record<string, string> = {}
  const file = env[CONFIG_VARIABLE]?.trim() || undefined
  const add = (name: string, value: string, source: GivenValue['source']) => {
    if (!known.has(name)) {
      const [told, where] = source === 'file' ? [problems, ` in ${file}`] : [warnings, '']
      told.push(`${name}${where} is not a setting of Countersign${hint(name, known)}`)
    } else if (value.trim()) given.set(name, { text: value.trim(), source })
  }
  if (file) {
    const fromFile = readFile(file)
    problems.push(...fromFile.problems)
    for (const [name, value] of fromFile.entries)
      if (name.startsWith(OTEL_PREFIX) && !known.has(name)) otelVariables[name] = value
      else add(name, value, 'file')
  }
  for (const [name, value = ''] of Object.entries(env))
    if (known.has(name) || (name.startsWith(PREFIX) && !SERVICE_LINK.test(name)))
      add(name, value, 'environment')
  return { given, file, otelVariables, problems, warnings }
}

function hint(name: string, known: ReadonlySet<string>): string {
  const full = name.startsWith(PREFIX) ? name : `${PREFIX}${name}`
  const meant = closestMatch(full.toUpperCase(), [...known], { maxDistance: MAX_TYPING_ERRORS })
  return meant ? `; did you mean ${meant}?` : ': see countersign config.'
}

function readFile(file: string): { entries: Array<[string, string]>; problems: string[] } {
  let text: string
  try {
    text = readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    return { entries: [], problems: [`Cannot read the configuration file: ${(error as Error).message}.`] }
  }
  const entries = new Map<string, string>()
  const lineOf = new Map<string, number>()
  const problems: string[] = []
  // Line by line: what parseEnv makes of a line that is no assignment differs between versions of Node, from joining it to the
  // next name to leaving it out.
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    if (NO_ASSIGNMENT.test(line)) continue
    const [, name, written] = ASSIGNMENT.exec(line) ?? []
    // Its number, not its text: that may be a part of a secret.
    if (name === undefined) problems.push(`${file} holds a line that is not NAME=value: line ${index + 1}.`)
    else if (lineOf.has(name))
      problems.push(
        `${file} sets ${name} twice, in lines ${lineOf.get(name)} and ${index + 1}: leave one of them.`,
      )
    else if (name === CONFIG_VARIABLE) problems.push(`${file} sets ${name}: a file names no other.`)
    else {
      const value = readValue(written!.trim())
      if (value === null)
        problems.push(`${file}: the value of ${name} does not end on its line; a quote is missing.`)
      else entries.set(name, value)
      lineOf.set(name, index + 1)
    }
  }
  return { entries: [...entries], problems }
}

/** Without quotes and comment; null where it does not end on its line. */
function readValue(written: string): string | null {
  const { value } = parseEnv(`value=${written}`)
  // parseEnv leaves the quote in the value when the other one is missing, or the value out, and makes line ends of escapes.
  if (value === undefined) return written === '' ? '' : null
  const isUnclosed = /^["'`]/.test(written) && value.startsWith(written[0]!)
  return isUnclosed || value.includes('\n') ? null : value
}
