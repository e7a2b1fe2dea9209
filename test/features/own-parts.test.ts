/** A feature with a table, a setting, an endpoint, a field of the verdict and a command of its own, all in one folder and one line of the list. */
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { commandsWith } from '../../src/cli/commands.js'
import { createProgram } from '../../src/cli/program.js'
import { buildOpenApi } from '../../src/features/api-documents/openapi.js'
import { descriptionsOf } from '../../src/features/feature-parts.js'
import { FEATURES } from '../../src/features/index.js'
import { examplePath } from '../support/descriptions.js'
import { base64, face } from '../support/faces.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { decodeJwt } from '../support/trust.js'
import { remarks } from './remarks/own.js'

interface Operation {
  description: string
  parameters: object[]
  requestBody: { content: { 'application/json': { example: object } } }
}

const features = [...FEATURES, remarks]
const user = 'ada+match'

let running: TestService
let tenant: TestTenant
beforeAll(async () => {
  running = await startService({ COUNTERSIGN_REMARK_LENGTH: '20' }, { features })
  tenant = await running.tenant()
  expect((await tenant.sandbox.enroll({ user_id: user, image: base64(await face('ada')) })).status).toBe(201)
}, 60_000)
afterAll(() => running?.stop())

const remark = (text: string) => tenant.sandbox.call('POST', `/v1/users/${user}/remarks`, { text })
const rows = () => running.database.query('SELECT * FROM remark')

async function verified(): Promise<unknown> {
  const { body } = await tenant.sandbox.verify({
    ...{ user_id: user, image: base64(await face('ada')), action: 'login' },
  })
  expect(decodeJwt(body.jwt, tenant.secret.secret)).toMatchObject({ claims: { remarks: body.remarks } })
  return body.remarks
}

it('counts its rows in the verdict, within the bounds of its setting', async () => {
  expect(await verified()).toBe(0)
  expect((await remark('pays on Mondays')).status).toBe(201)
  expect((await remark('longer than twenty characters')).body.code).toBe('invalid_request')
  expect(await verified()).toBe(1)
  const kept = await rows()
  expect(kept).toHaveLength(1)
  expect(JSON.stringify(kept)).not.toContain('Mondays')
})

it('is given the user whom the verify has found, without a further look', async () => {
  const finding = vi.spyOn(running.service.core.vault, 'find')
  await verified()
  expect(finding).toHaveBeenCalledTimes(1)
  finding.mockRestore()
})

it('has an example of path and body, which documents show and the sandbox accepts', async () => {
  const feature = await remarks.load()
  const [one] = descriptionsOf(feature, [])
  const { paths } = buildOpenApi([feature]) as { paths: Record<string, { post: Operation }> }
  const { description, parameters, requestBody } = paths[one!.path]!.post
  expect(parameters[0]).toMatchObject({ name: 'user_id', example: user })
  const { example } = requestBody.content['application/json']
  expect(example).toEqual({ text: 'pays on Mondays' })
  expect(description).toContain(`${encodeURIComponent(user)}/remarks`)
  expect((await tenant.sandbox.call(one!.method, examplePath(one!), example)).status).toBe(201)
})

it('serves a document of its own without an API key, only to GET, and OpenAPI describes it', async () => {
  const path = '/v1/remark-length'
  for (const environment of ['production', 'sandbox'] as const) {
    const anonymous = running.anonymous(environment)
    const { status, text, headers } = await anonymous.call('GET', path)
    expect({ status, text }).toEqual({ status: 200, text: '20' })
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const refused = await tenant.sandbox.call('POST', path, {})
    expect({ code: refused.body.code, allow: refused.headers.get('allow') }).toEqual({
      code: 'method_not_allowed',
      allow: 'GET',
    })
    const { body: document } = await anonymous.call('GET', '/v1/openapi.json')
    expect(document.paths[path].get.operationId).toBe('get_remark_length')
  }
})

it('prints its rows by its command, which help and completion know', async () => {
  const written = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  vi.stubEnv('COUNTERSIGN_DATABASE', running.service.config.database)
  vi.stubEnv('COUNTERSIGN_DATA_DIR', running.dataDir)
  try {
    const run = async (...words: string[]) => {
      written.mockClear()
      const program = await createProgram(words, true, commandsWith(features))
      await program.parseAsync(words, { from: 'user' })
      return written.mock.calls.map(([text]) => text).join('')
    }
    expect(JSON.parse(await run('remarks', tenant.name, user, '--json'))).toEqual([
      'pays on Mondays',
      'pays on Mondays',
    ])
    expect(await run('completion', 'bash')).toContain('remarks')
  } finally {
    vi.unstubAllEnvs()
    written.mockRestore()
  }
})

it('shows its rows in the export of their user, and counts none in a look-up, since they are no credentials', async () => {
  const { exports } = running.operations
  const address = { environment: 'sandbox' as const, userId: user }
  expect(await exports.run(await tenant.record(), COMMAND_LINE, address)).toMatchObject({
    remarks: [{ text: 'pays on Mondays' }, { text: 'pays on Mondays' }],
    passkeys: [],
  })
  expect((await tenant.sandbox.call('GET', `/v1/users/${user}`)).body).not.toHaveProperty('remarks')
})

it('loses its rows with their user', async () => {
  expect((await tenant.sandbox.erase(user)).status).toBe(200)
  expect(await rows()).toEqual([])
})
