/** A recorded file: JSON in few lines, written by `UPDATE_DOCS=1`, and the differences between two of them in words. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { packageFile } from '../../src/lib/package-root.js'

const WIDTH = 150
/** Differences that are shown: one change of the service often shows in every call. */
const MOST_SHOWN = 25

const fileOf = (name: string) => packageFile('test', 'witnesses', 'recorded', `${name}.json`)

/** The file as it stands in the repository; empty where there is none. */
export function recordedText(name: string): string {
  return existsSync(fileOf(name)) ? readFileSync(fileOf(name), 'utf8') : ''
}

export function writeRecorded(name: string, text: string): void {
  writeFileSync(fileOf(name), text)
}

/** JSON in few lines: a value that fits stands on one line, short members share lines, and no bracket has a line of its own. */
export function jsonText(value: unknown): string {
  return `${printed(value, '')}\n`
}

function printed(value: unknown, indent: string): string {
  const line = oneLine(value)
  if (value === null || typeof value !== 'object' || indent.length + line.length <= WIDTH) return line
  const inner = `${indent}  `
  if (Array.isArray(value)) return `[ ${value.map((one) => printed(one, inner)).join(`,\n${inner}`)} ]`
  const lines: string[] = []
  let isOpen = false
  for (const [name, member] of Object.entries(value)) {
    const text = `${JSON.stringify(name)}: ${printed(member, inner)}`
    const isShort = !text.includes('\n')
    const last = lines.length - 1
    if (isOpen && isShort && `${inner}${lines[last]}, ${text}`.length <= WIDTH) lines[last] += `, ${text}`
    else lines.push(text)
    isOpen = isShort
  }
  return `{ ${lines.join(`,\n${inner}`)} }`
}

function oneLine(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`)
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** @returns a line for each value that differs; the first ones, where there are many */
export function differences(recorded: unknown, now: unknown): string[] {
  const found = [...differing(recorded, now, '')]
  const more = found.length - MOST_SHOWN
  return more > 0 ? [...found.slice(0, MOST_SHOWN), `and ${more} more`] : found
}

function* differing(recorded: unknown, now: unknown, place: string): Generator<string> {
  if (oneLine(recorded) === oneLine(now)) return
  const isBoth = [recorded, now].every((one) => one !== null && typeof one === 'object')
  if (!isBoth || Array.isArray(recorded) !== Array.isArray(now)) {
    const say = (value: unknown) => (value === undefined ? 'nothing' : oneLine(value))
    yield `${place}: recorded ${say(recorded)}, now ${say(now)}`
    return
  }
  const [before, after] = [recorded, now] as Array<Record<string, unknown>>
  const names = [...new Set([...Object.keys(before!), ...Object.keys(after!)])]
  for (const name of names) {
    const [was, is] = [before![name], after![name]]
    yield* differing(was, is, [place, titleOf(was) ?? titleOf(is) ?? name].filter(Boolean).join(' > '))
  }
  // The same members in another order are another text, too.
  if (!Array.isArray(now) && oneLine(sorted(before)) === oneLine(sorted(after)))
    yield `${place}: the members stand in another order: recorded ${Object.keys(before!)}, now ${Object.keys(after!)}`
}

const sorted = (members: object | undefined) =>
  Object.fromEntries(Object.entries(members ?? {}).sort(([a], [b]) => (a < b ? -1 : 1)))

/** A scenario and a call are named by what they say of themselves, and not by their number. */
function titleOf(value: unknown): string | undefined {
  const { scenario, call } = (value ?? {}) as { scenario?: string; call?: string }
  return scenario ?? call
}
