/** Environment and configuration file as one list of variables, before anything is parsed. */
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
  /** Path of the configuration file as it was named, absolute or relative; undefined where there is none. */
  file: string | undefined
  /** Variables of the file that are no settings of Countersign but of a library of a feature. */
  libraryVariables: Record<string, string>
  problems: string[]
  /** Sentences about COUNTERSIGN_* names in the environment that are no settings. */
  warnings: string[]
}

export const CONFIG_VARIABLE = 'COUNTERSIGN_CONFIG'

const PREFIX = 'COUNTERSIGN_'
const ASSIGNMENT = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=(.*)$/s
/** An empty line or a comment. */
const NO_ASSIGNMENT = /^\s*(?:#|$)/
/** Names that differ by more letters than this are different words, not typing errors. */
const MAX_TYPING_ERRORS = 3
/** A name that differs by no more letters than this is a misspelt setting. */
const MISSPELT = 2
/** Kubernetes puts these into every pod of a namespace with a Service whose name begins with "countersign". */
const SERVICE_LINK =
  /^COUNTERSIGN_(?:\w+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/

/**
 * The environment wins over the file that it names. An empty variable counts as absent. An unknown name is an error in a file, which belongs
 * to Countersign only. In the environment, which may be meant for a newer version that was rolled back to this one, it is an error only where
 * it looks like a misspelt setting: a protection that somebody wanted would be missing.
 * @param libraryPrefixes prefixes of variables that the libraries of features read
 */
export function readVariables(
  env: Env,
  known: ReadonlySet<string>,
  libraryPrefixes: readonly string[],
): Variables {
  const given = new Map<string, GivenValue>()
  const problems: string[] = []
  const warnings: string[] = []
  const libraryVariables: Record<string, string> = {}
  const file = env[CONFIG_VARIABLE]?.trim() || undefined
  const add = (name: string, value: string, source: GivenValue['source']) => {
    if (!known.has(name)) {
      const meant = meantBy(name, known)
      const isProblem = source === 'file' || (meant?.isMisspelt && value.trim() !== '')
      const where = source === 'file' ? ` in ${file}` : ''
      const hint = meant ? `; did you mean ${meant.name}?` : ': see countersign config.'
      ;(isProblem ? problems : warnings).push(`${name}${where} is not a setting of Countersign${hint}`)
    } else if (value.trim()) given.set(name, { text: value.trim(), source })
  }
  if (file) {
    const fromFile = readFile(file)
    problems.push(...fromFile.problems)
    for (const [name, value] of fromFile.entries)
      if (!known.has(name) && libraryPrefixes.some((prefix) => name.startsWith(prefix)))
        libraryVariables[name] = value
      else add(name, value, 'file')
  }
  for (const [name, value = ''] of Object.entries(env))
    if (known.has(name) || (name.startsWith(PREFIX) && !SERVICE_LINK.test(name)))
      add(name, value, 'environment')
  return { given, file, libraryVariables, problems, warnings }
}

/** The setting that a name may mean, or null. */
function meantBy(name: string, known: ReadonlySet<string>): { name: string; isMisspelt: boolean } | null {
  const full = (name.startsWith(PREFIX) ? name : `${PREFIX}${name}`).toUpperCase()
  const closest = (most: number) => closestMatch(full, [...known], { maxDistance: most })
  // More than half of a short name's letters make another word of it, such as HTTP of RATE.
  const most = Math.min(MAX_TYPING_ERRORS, Math.ceil((full.length - PREFIX.length) / 2))
  const match = closest(most)
  return match ? { name: match, isMisspelt: closest(Math.min(most, MISSPELT)) !== undefined } : null
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
  // Each line separately: versions of Node differ in what parseEnv makes of a line that is no assignment, from joining it to the
  // next name to ignoring it.
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    if (NO_ASSIGNMENT.test(line)) continue
    const [, name, written] = ASSIGNMENT.exec(line) ?? []
    // The number of the line and not its text, which may be part of a secret.
    if (name === undefined) problems.push(`${file}: line ${index + 1} is not NAME=value.`)
    else if (lineOf.has(name))
      problems.push(
        `${file} sets ${name} twice, in lines ${lineOf.get(name)} and ${index + 1}. Remove one of them.`,
      )
    else if (name === CONFIG_VARIABLE)
      problems.push(`${file} sets ${name}, which only the environment may set. Remove that line.`)
    else {
      const value = readValue(written!.trim())
      if (value === null)
        problems.push(`${file}: the value of ${name} does not end on its line. Add the missing quote.`)
      else entries.set(name, value)
      lineOf.set(name, index + 1)
    }
  }
  return { entries: [...entries], problems }
}

/** The value without quotes and comment, or null where its quote does not end on its line. */
function readValue(written: string): string | null {
  const { value } = parseEnv(`value=${written}`)
  // parseEnv keeps a lone quote in the value or drops the value, and turns escapes into line ends.
  if (value === undefined) return written === '' ? '' : null
  const isUnclosed = /^["'`]/.test(written) && value.startsWith(written[0]!)
  return isUnclosed || value.includes('\n') ? null : value
}
