/** Checks a value against a schema of typed actions, with a sentence for each fault. */
import { type ActionSchema, PATTERN_ISSUES } from './typed-action-schemas.js'

/** A fault of a value. */
export interface SchemaFault {
  /** Dotted path of the member, such as `action.payee.name`. */
  path: string
  /** The end of a sentence that begins with the path. */
  issue: string
}

/** @returns the faults of a value, none where it fits the schema */
export function schemaFaults(value: unknown, schema: ActionSchema, path: string): SchemaFault[] {
  const issue = ownIssue(value, schema)
  if (issue !== null) return [{ path, issue }]
  if (schema.items)
    return (value as unknown[]).flatMap((item, index) =>
      schemaFaults(item, schema.items!, `${path}.${index}`),
    )
  return schema.properties
    ? memberFaults(value as Record<string, unknown>, schema.properties, schema.required, path)
    : []
}

function memberFaults(
  value: Record<string, unknown>,
  properties: Record<string, ActionSchema>,
  required: readonly string[] = [],
  path: string,
): SchemaFault[] {
  // A member that is undefined is not sent.
  const given = Object.keys(value).filter((name) => value[name] !== undefined)
  return [
    ...required
      .filter((name) => !given.includes(name))
      .map((name) => ({ path: `${path}.${name}`, issue: 'is required' })),
    ...given.flatMap((name) => {
      const member = Object.hasOwn(properties, name) ? properties[name] : undefined
      return member
        ? schemaFaults(value[name], member, `${path}.${name}`)
        : [{ path: `${path}.${name}`, issue: 'is not a known field' }]
    }),
  ]
}

/** The fault of the value itself, without its members. */
function ownIssue(value: unknown, schema: ActionSchema): string | null {
  switch (schema.type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'must be an object'
    case 'array':
      if (!Array.isArray(value)) return 'must be an array'
      return value.length < schema.minItems! || value.length > schema.maxItems!
        ? `must have ${schema.minItems} to ${schema.maxItems} items`
        : null
    case 'integer':
      return Number.isInteger(value) &&
        (value as number) >= schema.minimum! &&
        (value as number) <= schema.maximum!
        ? null
        : `must be a whole number from ${schema.minimum} to ${schema.maximum}`
    case 'string':
      return typeof value === 'string' ? textIssue(value, schema) : 'must be a string'
  }
}

function textIssue(value: string, schema: ActionSchema): string | null {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema
  if (schema.const !== undefined && value !== schema.const) return `must be ${schema.const}`
  if (schema.enum && !schema.enum.includes(value))
    return schema.enum.length > 20 ? 'is not an ISO 4217 code' : `must be one of ${schema.enum.join(', ')}`
  // JSON Schema counts characters (code points), not UTF-16 code units.
  const length = [...value].length
  if (length < minLength) return 'must not be empty'
  if (length > maxLength) return `must have at most ${maxLength} characters`
  return pattern === undefined || new RegExp(pattern, 'u').test(value) ? null : PATTERN_ISSUES[pattern]!
}
