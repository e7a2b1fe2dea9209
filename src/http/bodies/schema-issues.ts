/** Describes in plain sentences how a value breaks its schema: one for each field, with the values that the field may have. */
import type { TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { DIGITS, SHA256_HEX } from '../../api/schemas.js'
import type { ErrorDetail } from '../../lib/domain-error.js'
import { oneOfThem } from '../../verification/capture/images.js'

const MAX_DETAILS = 20

const TYPES: Readonly<Record<string, string>> = {
  string: 'a string',
  object: 'an object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  null: 'null',
}

type SchemaError = ReturnType<Validator['Errors']>[number]

/** @param schema the validator's schema, in which the branches of a union are looked up */
export function describeErrors(validator: Validator, schema: TSchema, input: unknown): ErrorDetail[] {
  const details = new Map<string, ErrorDetail>()
  const branches = (schema as { oneOf?: Array<{ required: [string] }> }).oneOf ?? []
  const missing = () => oneOfThem(branches.map(({ required: [name] }) => ({ name })))
  const add = (path: string, issue: string) => {
    const key = `${path}\0${issue}`
    if (details.size < MAX_DETAILS) details.set(key, { path: path || 'body', issue })
  }
  for (const error of validator.Errors(input)) {
    const path = error.instancePath.split('/').slice(1).join('.')
    const member = (name: string) => (path ? `${path}.${name}` : name)
    switch (error.keyword) {
      case 'required':
        // The oneOf of the fields for pictures reports each branch; one clear sentence says more.
        for (const name of error.params.requiredProperties)
          if (error.schemaPath.includes('oneOf')) add('image', missing())
          else add(member(name), 'is required')
        break
      case 'oneOf':
        add('image', missing())
        break
      case 'additionalProperties':
        for (const name of error.params.additionalProperties) add(member(name), 'is not a known field')
        break
      // An unknown field, whose schema is `false`. The validator stops at eight errors, so that `additionalProperties`, which
      // names all unknown fields, may be missing.
      case 'boolean':
        add(path, 'is not a known field')
        break
      default:
        add(path, unionIssue(error, schema) ?? issueOf(error))
    }
  }
  return [...details.values()]
}

function issueOf({ keyword, params }: SchemaError): string {
  const { limit, type, allowedValue, allowedValues, pattern } = params as Record<string, unknown>
  switch (keyword) {
    case 'type':
      return `must be ${nameOfType(type)}`
    case 'const':
      return `must be ${allowedValue}`
    case 'enum':
      return oneOf((allowedValues as unknown[]).map(String))
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must have at least ${limit} characters`
    case 'maxLength':
      return `must have at most ${limit} characters`
    case 'minItems':
      return `must hold at least ${items(limit)}`
    case 'maxItems':
      return `must hold at most ${items(limit)}`
    case 'uniqueItems':
      return 'must not hold an item twice'
    case 'minimum':
      return `must be at least ${limit}`
    case 'maximum':
      return `must be at most ${limit}`
    case 'pattern':
      if (pattern === DIGITS) return 'must be a whole number of at most 15 digits'
      if (pattern === SHA256_HEX) return 'must be 64 digits of lower-case hex'
      return 'must not hold control characters'
    case 'format':
      return 'must be a date-time in RFC 3339, such as 2026-01-31T12:00:00Z'
    default:
      return 'is not as the API reference describes it'
  }
}

/** One sentence for all branches of a union; undefined for an error that is not about a union. */
function unionIssue({ keyword, schemaPath }: SchemaError, schema: TSchema): string | undefined {
  const inside = schemaPath.lastIndexOf('/anyOf/')
  const isOfBranch = inside >= 0 && (keyword === 'const' || keyword === 'type')
  if (!isOfBranch && keyword !== 'anyOf') return undefined
  const { anyOf } = nodeAt(schema, isOfBranch ? schemaPath.slice(0, inside) : schemaPath)
  const branches = anyOf as Array<Record<string, unknown>>
  if (branches.every((branch) => 'const' in branch))
    return oneOf(branches.map((branch) => String(branch.const)))
  return `must be ${branches.map(({ type, const: value }) => (value === undefined ? nameOfType(type) : String(value))).join(' or ')}`
}

/** @param path in the form of the validator, such as `#/properties/locale` */
function nodeAt(schema: TSchema, path: string): Record<string, unknown> {
  const names = path.split('/').slice(1)
  return names.reduce<Record<string, unknown>>(
    (node, name) => node[name] as Record<string, unknown>,
    schema as Record<string, unknown>,
  )
}

function oneOf(values: string[]): string {
  return values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(', ')}`
}

function nameOfType(type: unknown): string {
  return TYPES[String(type)] ?? String(type)
}

function items(limit: unknown): string {
  return limit === 1 ? '1 item' : `${limit} items`
}
