/** Records as programs read them: fields in snake case, times by RFC 3339. */
import { isoTime } from './clock.js'

type SnakeCase<Name extends string> = Name extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${SnakeCase<Rest>}`
  : Name
/** The fields that hold times. */
type Time = `${string}${'At' | 'Until' | 'From'}`
const TIME = /(?:At|Until|From)$/

export type Wired<Of, Name extends keyof Of & string> = {
  [Field in Name as SnakeCase<Field>]: Field extends Time ? string | Extract<Of[Field], null> : Of[Field]
}

export const snakeCase = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** @param names the fields to show, in this order */
export function wire<Of extends object, Name extends keyof Of & string>(
  record: Of,
  ...names: Name[]
): Wired<Of, Name> {
  const shown = names.map((name) => {
    const value: unknown = record[name]
    return [snakeCase(name), TIME.test(name) && typeof value === 'number' ? isoTime(value) : value]
  })
  return Object.fromEntries(shown)
}
