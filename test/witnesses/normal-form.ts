/**
 * Makes a recorded value the same in every run. A value that is drawn at random becomes a placeholder, and a time is counted from the
 * clock of the service. An id keeps its number within a scenario, so that a record still shows which values are equal.
 */
import { VERSION } from '../../src/lib/version.js'

/** The facts by which a value is put into its normal form. */
export interface Surroundings {
  /** The service's clock, in milliseconds since the Unix epoch. */
  now: number
  /** Name of each address of the service, by its origin. */
  origins: Record<string, string>
  /** Placeholders that the scenario has given out, by the random value. */
  given: Map<string, string>
}

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

/** Fields whose value is drawn, or keyed with what is drawn, although it has a form that other values share. */
const DRAWN = new Set(['subject', 'confirmation_code', 'hint', 'etag', 'sandbox_user'])
/** Lists of WebAuthn options whose members have the id of a credential. */
const CREDENTIALS = new Set(['allowCredentials', 'excludeCredentials'])
/** Hashes of what a scenario sends, which are the same in every run. */
const OF_WHAT_WAS_SENT = new Set([
  ...['policy_hash', 'sandbox_policy_hash', 'production', 'sandbox'],
  ...['display.hash', 'policy_version.hash', 'consent_sha256'],
])
/** The same, except in an audit entry, where the user's key is part of them. */
const KEYED_IN_AUDIT = new Set(['action_hash', 'display_hash'])
const AUDIT = ['audit', 'facts']
/** Boxes whose length hangs on the ports of the service and on the digits of a score. */
const OF_ANY_LENGTH = new Set([
  ...['idempotency.sealed', 'capture_session.sealed', 'webhook_delivery.sealed'],
  'reference.sealed',
])
/** Numbers that are measured in milliseconds. */
const MEASURED = new Set(['durationMs', 'duration_ms'])

/** Longer lists of numbers are histograms, nearly all of whose places are empty. */
const LONGEST_HISTOGRAM = 40

const MINUTE_MS = 60_000
const YEARS_MS = 20 * 365 * 24 * 60 * MINUTE_MS
/** Three digits: networks may differ in the last bits between processors. */
const DIGITS = 3
/** Scores of faces differ by some thousandths between processors that run networks in 8 bits and those that do not. */
const SCORES = new Set(['score', 'similarity'])
const SCORE_DECIMALS = 1

/** @param place of the value: names of fields from the outside, where the first may be that of a table */
export function normalForm(value: unknown, around: Surroundings, place: readonly string[] = []): Json {
  const name = place.at(-1) ?? ''
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value) || value instanceof Uint8Array)
    return OF_ANY_LENGTH.has(place.join('.')) ? '<bytes>' : `<${value.length} bytes>`
  if (typeof value === 'boolean') return value
  if (MEASURED.has(name)) return '<ms>'
  if (typeof value === 'number')
    return SCORES.has(name) ? Number(value.toFixed(SCORE_DECIMALS)) : numberForm(value, around)
  if (typeof value === 'string') return textForm(value, around, place)
  if (name === 'timings' || name === 'timings_ms') return Object.keys(value)
  if (name === 'latencies') return '<latencies>'
  if (Array.isArray(value)) {
    if (name === 'scores') return `<${value.reduce((sum, count) => sum + Number(count), 0)} scores>`
    if (name === 'steps') return stepsForm(value.join(' '))
    if (value.length > LONGEST_HISTOGRAM) return sparse(value)
    return value.map((one) => normalForm(one, around, place))
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([field, inner]) => [replaced(field, around, []), normalForm(inner, around, [...place, field])]),
  )
}

/** The places of a histogram that are not empty. */
function sparse(counts: readonly unknown[]): Json {
  return {
    of: counts.length,
    ...Object.fromEntries([...counts.map(Number).entries()].filter(([, count]) => count !== 0)),
  }
}

function numberForm(value: number, { now }: Surroundings): Json {
  if (!Number.isInteger(value)) return Number(value.toPrecision(DIGITS))
  if (Math.abs(value - now) < YEARS_MS) return timeForm(value, now)
  // JWTs have their times in seconds.
  return Math.abs(value * 1000 - now) < YEARS_MS ? timeForm(value * 1000, now) : value
}

/** `<now>`, `<now+1m30s>`, `<now-1d>` */
function timeForm(at: number, now: number): string {
  const units: Array<[string, number]> = [
    ['d', 24 * 60 * MINUTE_MS],
    ['h', 60 * MINUTE_MS],
    ['m', MINUTE_MS],
    ['s', 1000],
    ['ms', 1],
  ]
  let rest = Math.abs(at - now)
  let text = ''
  for (const [unit, length] of units) {
    const count = Math.floor(rest / length)
    if (count > 0) text += `${count}${unit}`
    rest -= count * length
  }
  return text === '' ? '<now>' : `<now${at < now ? '-' : '+'}${text}>`
}

/** The movements of a challenge are drawn by lot; a challenge without any has only a look straight ahead. */
function stepsForm(steps: string): string {
  return steps === 'frontal' ? steps : '<drawn>'
}

function textForm(text: string, around: Surroundings, place: readonly string[]): Json {
  const name = place.at(-1) ?? ''
  if (DRAWN.has(name)) return placeholder(name, text, around)
  if (name === 'id' && place.some((outer) => CREDENTIALS.has(outer)))
    return placeholder('credential', text, around)
  if (name === 'steps') return stepsForm(text)
  // Columns hold JSON as text: audit entries, facts of the sandbox, settings of a tenant.
  if (/^[{[]/.test(text)) {
    const inner = parsed(text)
    if (inner !== undefined) return normalForm(inner, around, place)
  }
  return replaced(text, around, place)
}

function replaced(text: string, around: Surroundings, place: readonly string[]): string {
  const name = place.at(-1) ?? ''
  const { now, origins } = around
  let form = text.replaceAll(VERSION, '<version>').replace(/\btenant-\d+\b/g, '<tenant>')
  for (const [origin, address] of Object.entries(origins)) form = form.replaceAll(origin, address)
  return (
    form
      .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, '<jwt>')
      .replace(/\bt=\d+(?=,kid=)/g, (stamp) => `t=${timeForm(Number(stamp.slice(2)) * 1000, now)}`)
      .replace(/\bv2=[0-9a-f]{64}/g, 'v2=<hmac>')
      .replace(/\bsvc-(sbx|prod|sec)-[0-9A-Za-z]+/g, '<svc-$1>')
      .replace(/\b[a-z]{3}_[0-9a-f]{32}\b/g, (id) => placeholder(id.slice(0, 3), id, around))
      // Version 7: those that are made at run time. An authenticator's model has another version.
      .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, (id) =>
        placeholder('request', id, around),
      )
      .replace(/\b[0-9a-f]{64}\b/g, (hash) => (isOfWhatWasSent(name, place) ? hash : '<sha256>'))
      .replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => timeForm(Date.parse(time), now))
      .replace(/\b0\.\d\d of 0\.\d\d\b/g, '<score> of <bound>')
      // The digest of a path that the service does not know, under a key of the process.
      .replace(/\bunknown:[0-9a-f]{12}/g, 'unknown:<digest>')
      // 32 random bytes in base64url or base62.
      .replace(/(?<![\w-])[\w-]{43}(?![\w-])/g, '<random>')
  )
}

function isOfWhatWasSent(name: string, place: readonly string[]): boolean {
  const isAudit = place.some((outer) => AUDIT.includes(outer))
  return (
    OF_WHAT_WAS_SENT.has(name) ||
    OF_WHAT_WAS_SENT.has(place.slice(-2).join('.')) ||
    (KEYED_IN_AUDIT.has(name) && !isAudit)
  )
}

function placeholder(kind: string, value: string, { given }: Surroundings): string {
  const known = given.get(value)
  if (known) return known
  const number = [...given.values()].filter((one) => one.startsWith(`<${kind} `)).length + 1
  const made = `<${kind} ${number}>`
  given.set(value, made)
  return made
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
