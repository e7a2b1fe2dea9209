/** Schemas as generators of clients want them: named ones once, in `components`, and plain words for what JSON Schema says at length. */

type Json = Record<string, unknown>

const SCHEMAS = '#/components/schemas/'

/**
 * Replaces every schema that has a title by a reference to it.
 * @param components receives the schemas by title
 */
export function withReferences(value: unknown, components: Json): unknown {
  if (Array.isArray(value)) return value.map((item) => withReferences(item, components))
  if (typeof value !== 'object' || value === null) return value
  const { title, ...schema } = asChoice(value as Json)
  const plain = Object.fromEntries(
    Object.entries(inPlainWords(schema)).map(([name, inner]) => [name, withReferences(inner, components)]),
  )
  // Under `properties`, `title` is a field of that name.
  if (typeof title === 'object') return { title: withReferences(title, components), ...plain }
  if (title === undefined) return plain
  const name = title as string
  if (JSON.stringify(components[name] ?? plain) !== JSON.stringify(plain))
    throw new Error(`two schemas are called ${name}`)
  components[name] = plain
  return { $ref: SCHEMAS + name }
}

/** Writes "exactly one of these fields" as one whole schema for each field: generators of clients ignore a bare `required`. */
function asChoice(schema: Json): Json {
  const { oneOf, properties, title, required = [], ...rest } = schema
  if (!Array.isArray(oneOf) || !properties) return schema
  const fields = oneOf.map((one) => one.required[0] as string)
  const others = (field: string) => fields.filter((other) => other !== field)
  return {
    title,
    oneOf: fields.map((field) => ({
      title: `${title}With${field[0]!.toUpperCase()}${field.slice(1)}`,
      ...rest,
      properties: Object.fromEntries(
        Object.entries(properties).filter(([name]) => !others(field).includes(name)),
      ),
      required: [...(required as string[]), field],
    })),
  }
}

function inPlainWords(schema: Json): Json {
  const { const: literal, anyOf, patternProperties, documentedBranches = [], ...rest } = schema
  if (typeof literal === 'string') return { ...rest, enum: [literal] }
  if (Array.isArray(anyOf)) {
    const literals = anyOf.map((one) => one.const)
    return literals.every((one) => typeof one === 'string')
      ? { ...rest, type: 'string', enum: literals }
      : { ...rest, anyOf: [...anyOf, ...(documentedBranches as Json[])] }
  }
  // The schema of a record with any names and values.
  if (patternProperties) return { ...rest, additionalProperties: true }
  return schema
}
