/** Check that an action holds only values that are sent, hashed and read back unchanged. */

/**
 * Accepts a string, or a plain object of plain objects, arrays, strings, booleans, null and numbers. `JSON.stringify` turns other values
 * into something that says less, such as a Map into `{}`: two actions would then have the same hash.
 * @throws TypeError that names the path
 */
export function assertAction(action: unknown): void {
  if (action === undefined || action === null)
    throw new TypeError('action is required: the verdict is bound to it')
  if ((typeof action !== 'string' && typeof action !== 'object') || Array.isArray(action))
    throw new TypeError('action must be an object or a string')
  assertExact(action)
}

/** Checks the members of a value that need not be an action, such as an array. @throws TypeError that names the path */
export function assertExact(action: unknown): void {
  assertValue(action, 'action', new Set())
}

function assertValue(value: unknown, path: string, ancestors: Set<object>): void {
  const fault = typeof value === 'object' && value !== null ? objectFault(value) : scalarFault(value)
  if (fault) throw new TypeError(`${path} ${fault}`)
  if (typeof value !== 'object' || value === null) return
  if (ancestors.has(value)) throw new TypeError(`${path} holds itself`)
  ancestors.add(value)
  for (const [name, member] of Object.entries(value)) {
    if (!name.isWellFormed()) throw new TypeError(`${path} has a name with a lone surrogate`)
    // A member that is undefined is not sent and not hashed. An item of a list would be sent as null.
    if (member !== undefined || Array.isArray(value)) assertValue(member, `${path}.${name}`, ancestors)
  }
  ancestors.delete(value)
}

function scalarFault(value: unknown): string | null {
  switch (typeof value) {
    case 'string':
      return value.isWellFormed() ? null : 'holds a lone surrogate'
    case 'number':
      if (!Number.isFinite(value)) return `is ${value}, which JSON does not have`
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? 'is an integer beyond Number.MAX_SAFE_INTEGER: send it as a string'
        : null
    case 'bigint':
      return 'is a bigint, which JSON does not have: send it as a string'
    case 'undefined':
      return 'is undefined: leave it out, or send null'
    case 'boolean':
    case 'object':
      return null
    default:
      return `is a ${typeof value}, which JSON does not have`
  }
}

function objectFault(value: object): string | null {
  const isList = Array.isArray(value)
  if (!(isList ? isPlainList(value) : isPlainObject(value)))
    return `is ${nameOf(value)}, which JSON does not keep: give a plain object, an array, or a string`
  const keys = Reflect.ownKeys(value).filter((key) => !(isList && key === 'length'))
  if (keys.some((key) => typeof key === 'symbol')) return 'has a member whose name is a symbol'
  const members = keys.map((key) => [key, Object.getOwnPropertyDescriptor(value, key)!] as const)
  for (const [key, { enumerable, get, set }] of members)
    if (!enumerable || get || set)
      return `has the member ${String(key)}, which is hidden or computed by a getter`
  // The keys of a list begin with its indexes, in order: holes and named members both show.
  if (isList && (keys.length !== value.length || keys.some((key, index) => key !== String(index))))
    return 'is an array with holes or with named members'
  return null
}

/** Takes objects of other realms too, such as those of `vm`: the prototype of Object has none itself. */
function isPlainObject(value: object): boolean {
  const prototype = Object.getPrototypeOf(value)
  return (
    prototype === null ||
    (Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf'))
  )
}

/** Only the prototype of Array itself is an array. */
function isPlainList(value: object): boolean {
  return Array.isArray(Object.getPrototypeOf(value))
}

function nameOf(value: object): string {
  const { name } = (value.constructor ?? {}) as { name?: unknown }
  return typeof name === 'string' && name !== '' && name !== 'Object' ? `a ${name}` : 'an object of a class'
}
