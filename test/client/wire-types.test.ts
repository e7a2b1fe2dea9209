/** The SDK's types against the OpenAPI document: the compiler holds one against the other. */
import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { OPENAPI } from '../support/descriptions.js'

// biome-ignore lint/suspicious/noExplicitAny: a JSON document, looked into freely
type Json = any

const { paths, components } = OPENAPI as Json
const MAX_WORDS = 30
/** References replaced by what they name. */
function whole(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(whole)
  if (typeof schema !== 'object' || schema === null) return schema
  if (typeof schema.$ref === 'string') return whole(components.schemas[schema.$ref.split('/').at(-1)])
  // The compiler infers lists of words only up to a certain length.
  if (schema.enum?.length > MAX_WORDS)
    return {
      anyOf: [schema.enum.slice(0, MAX_WORDS), schema.enum.slice(MAX_WORDS)].map((words) =>
        whole({ ...schema, enum: words }),
      ),
    }
  // The length of a list is left out: a list of at least 16 would be written out as a tuple.
  const told = Object.entries(schema).filter(([key]) => key !== 'minItems' && key !== 'maxItems')
  return Object.fromEntries(told.map(([key, value]) => [key, whole(value)]))
}
const request = (operation: Json) => whole(operation.requestBody.content['application/json'].schema)

/** Schemas of the document by the names of those types of the SDK that are not named as their schemas. */
const NAMED: Record<string, Json> = {
  'EnrollRequest<string>': request(paths['/v1/enroll'].post),
  'VerifyRequest<string>': request(paths['/v1/verify'].post),
  ChallengeFields: request(paths['/v1/challenges'].post),
  'GuidanceRequest<string>': request(paths['/v1/guidance'].post),
  CaptureSessionFields: request(paths['/v1/capture-sessions'].post),
  ErrorBody: whole(components.schemas.Error),
}

// Documents that need no API key are for verifiers, which read them by their standards' names.
const needsKey = (operation: Json) => operation.security?.length !== 0
/** The bodies of every endpoint, as references to schemas or whole. */
const BODIES = Object.values(paths as Json)
  .flatMap((path) =>
    (Object.values(path as Json) as Json[]).filter(needsKey).flatMap((operation: Json) => [
      ...(operation.requestBody ? [operation.requestBody] : []),
      ...Object.entries<Json>(operation.responses)
        .filter(([status]) => Number(status) < 300)
        .map(([, answer]) => answer),
    ]),
  )
  .map((body): Json => body.content['application/json'].schema)

const named = new Set(Object.values(NAMED).map((schema) => JSON.stringify(schema)))
/** Schemas of the document by the names of the SDK's types. */
const SCHEMAS: Record<string, Json> = {
  ...NAMED,
  ...Object.fromEntries(
    BODIES.filter((schema) => schema.$ref && !named.has(JSON.stringify(whole(schema)))).map((schema) => [
      schema.$ref.split('/').at(-1),
      whole(schema),
    ]),
  ),
}

/** In the SDK `verdict` and `status` tell members apart; the document lists each field's values. */
const UNIONS: Record<string, string> = {
  // The SDK takes errors of older services, without a remedy, and guidance of newer ones.
  ErrorBody:
    'Omit<Errors.ErrorBody, "details"> & { remedy: string; doc_url: string; details?: Array<Omit<Errors.ErrorDetail, "guidance"> & { guidance?: Wire.PhotoGuidance }> }',

  CaptureSession:
    'Omit<Wire.CaptureSession, "result"> & { result: { status: number; body: { [name: string]: unknown } } | null }',
  VerifyResult: `Wire.VerifyFacts & { [Field in 'verdict' | 'reason' | 'score']: Wire.VerifyResult[Field] }`,
}

let folder: string
beforeAll(async () => {
  // Inside the package, so that its dependencies are found.
  folder = await mkdtemp(packageFile('node_modules', '.wire-types-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type Comparison = readonly [type: string, schema: Json]

/** @returns those of the comparisons whose type differs from its schema: one run of the compiler holds all of them against each other */
async function differences(comparisons: readonly Comparison[]): Promise<Comparison[]> {
  const checks = comparisons.map(([type, schema], index) =>
    [
      `const schema${index} = ${JSON.stringify(schema)} as const`,
      `export const check${index}: Same<Plain<${type}>, Plain<Static<typeof schema${index}>>> = true`,
    ].join('\n'),
  )
  const client = packageFile('clients', 'node')
  const source = [
    `import type { XStatic as Static } from 'typebox/schema'`,
    `import type * as Errors from ${JSON.stringify(join(client, 'errors.js'))}`,
    `import type * as Wire from ${JSON.stringify(join(client, 'index.js'))}`,
    ...[...new Set(comparisons.map(([type]) => type))].map((type) =>
      type.endsWith('<string>')
        ? `type ${type.replace('<string>', '<T>')} = Wire.${type.replace('<string>', '<T>')}`
        : `type ${type} = ${UNIONS[type] ?? `Wire.${type}`}`,
    ),
    // Flattens intersections, drops `readonly` and "absent" members, so that only what can be sent is compared.
    `type Absent<T, K extends keyof T> = [T[K]] extends [undefined] ? never : K`,
    `type Plain<T> = T extends object ? { -readonly [K in keyof T as T extends readonly unknown[] ? K : Absent<T, K>]: Plain<T[K]> } : T`,
    `type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? (OptionalOf<A> extends OptionalOf<B> ? (OptionalOf<B> extends OptionalOf<A> ? true : 'optional in the document only') : 'optional in the SDK only') : 'the document allows more') : 'the SDK allows more'`,
    `type OptionalOf<T> = T extends object ? { [K in keyof T]-?: {} extends Pick<T, K> ? K : never }[keyof T] : never`,
    ...checks,
  ].join('\n')
  const file = join(folder, 'check.ts')
  await writeFile(file, source)
  const { stdout } = spawnSync(
    packageFile('node_modules', '.bin', 'tsc'),
    [
      ...['--noEmit', '--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', '--ignoreConfig'],
      ...['--target', 'ES2023', '--lib', 'ES2024,DOM', '--module', 'NodeNext'],
      file,
    ],
    { encoding: 'utf8' },
  )
  const complaints = stdout.split('\n').filter((line) => line.includes('error'))
  // Anything but "not assignable" is a fault of the check itself.
  const faults = complaints.filter((line) => !line.includes('TS2322'))
  if (faults.length > 0) throw new Error(faults.join('\n'))
  const lines = source.split('\n')
  const differing = complaints.map((line) => {
    const [, at] = /\((\d+),\d+\): error/.exec(line)!
    return Number(/^export const check(\d+)/.exec(lines[Number(at) - 1]!)![1])
  })
  return comparisons.filter((_, index) => differing.includes(index))
}

it('types every request and answer of the SDK as the OpenAPI document does', async () => {
  expect(await differences(Object.entries(SCHEMAS))).toEqual([])
})

it('has types for the bodies of every endpoint', () => {
  const documented = BODIES.map((schema) => JSON.stringify(whole(schema)))
  const typed = new Set(Object.values(SCHEMAS).map((schema) => JSON.stringify(schema)))
  expect(documented.length).toBeGreaterThan(10)
  expect(documented.filter((schema) => !typed.has(schema))).toEqual([])
})

it('reports a difference between the SDK and the document', async () => {
  const changes: Array<[string, (schema: Json) => void]> = [
    ['EnrollResult', (schema) => delete schema.properties.model],
    ['EnrollResult', (schema) => Object.assign(schema.properties, { more: { type: 'string' } })],
    ['VerifyResult', (schema) => Object.assign(schema.properties.score, { anyOf: [{ type: 'number' }] })],
    ['VerifyResult', (schema) => schema.properties.reason.anyOf[0].enum.pop()],
    ['VerifyResult', (schema) => delete schema.properties.production_key],
    ['EnrollRequest<string>', (schema) => schema.oneOf[0].required.push('replace')],
    ['ErrorBody', (schema) => schema.properties.code.anyOf[0].enum.push('new_code')],
  ]
  const changed = changes.map(([name, edit]): Comparison => {
    const schema = structuredClone(SCHEMAS[name])
    edit(schema)
    return [name, schema]
  })
  expect(await differences(changed)).toEqual(changed)
})
