/** Canonical JSON (RFC 8785): every program writes the same value in the same bytes, and so gets the same hash. */
/** Text that JSON writes as it is. */
const PLAIN = /^[ !#-[\]-~]*$/
const BOXES = [Number, String, Boolean, BigInt]

/**
 * @param value any value that `JSON.stringify` takes
 * @returns the RFC 8785 canonical form of the JSON that would be sent
 * @throws TypeError for NaN and infinities, which `JSON.stringify` would replace by `null`, for lone surrogates, and for values that
 *   JSON does not have
 * @example
 * canonicalJson({ b: 1, a: 'x' }) // '{"a":"x","b":1}'
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return canonicalString(value)
  const json = toJson(value)
  if (json === null || typeof json === 'boolean') return String(json)
  if (typeof json === 'number') return canonicalNumber(json)
  if (typeof json === 'string') return canonicalString(json)
  // JSON sends a hole in an array, and undefined in it, as null.
  if (Array.isArray(json)) return `[${Array.from(json, (item) => canonicalJson(item ?? null)).join(',')}]`
  if (typeof json === 'object') {
    const fields = json as Record<string, unknown>
    let members = ''
    // Section 3.2.3 sorts by UTF-16 code units, as sort() does.
    for (const name of Object.keys(fields).sort()) {
      const member = fields[name]
      if (member === undefined) continue
      members += `${members === '' ? '' : ','}${canonicalString(name)}:${canonicalJson(member)}`
    }
    return `{${members}}`
  }
  throw new TypeError(`${typeof json} is not a JSON value`)
}

function toJson(value: unknown): unknown {
  const convertible = value as { toJSON?: unknown } | null | undefined
  const json = typeof convertible?.toJSON === 'function' ? convertible.toJSON() : value
  if (typeof json !== 'object') return json
  // JSON.stringify unboxes too. Otherwise every boxed amount would have the form of an empty object.
  return BOXES.some((box) => json instanceof box) ? (json as object).valueOf() : json
}

/** ECMAScript's own form of a number is the canonical one (section 3.2.2.3). */
function canonicalNumber(value: number): string {
  if (!Number.isFinite(value)) throw new TypeError(`${value} is not a JSON number`)
  return String(value)
}

function canonicalString(value: string): string {
  if (PLAIN.test(value)) return `"${value}"`
  if (!value.isWellFormed()) throw new TypeError('a string with a lone surrogate has no canonical form')
  return JSON.stringify(value)
}
