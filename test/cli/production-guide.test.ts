/** docs/guides/production.md, walked with its own commands where every capture needs a challenge. */
import { readFileSync } from 'node:fs'
import { beforeAll, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { apiClient } from '../support/client.js'
import { type HostedService, workplaceForAll } from '../support/command.js'
import { validSignatures } from '../support/trust.js'

const guide = readFileSync(packageFile('docs', 'guides', 'production.md'), 'utf8')
/** The words of a command of the guide. @param start its first words */
const commandOf = (start: string) => {
  const [, words] = new RegExp(`(?:npx )?countersign (${start}[^\\n\`]*)`).exec(guide)!
  return words!.replace('<tenant>', 'acme').replace('<name>', 'acme').split(' ')
}

const place = workplaceForAll({ COUNTERSIGN_REQUIRE_LIVENESS: 'active' })
let server: HostedService
beforeAll(async () => {
  server = await place.host()
})

it('leads from a new tenant to the first production call, without a verify in the sandbox', async () => {
  const created = await place.run([...commandOf('tenant create'), '--json'])
  expect(created.code).toBe(0)
  const command = commandOf('tenant production-key')
  expect(command).toContain('--issue')
  const { code, json } = await place.run([...command, '--json'])
  expect(code).toBe(0)
  const production = apiClient(`${server.production}/v1`, json.production_key)
  const asked = await production.call('POST', '/v1/challenges', { user_id: 'ada', purpose: 'enroll' })
  expect(asked).toMatchObject({ status: 201, body: { steps: expect.any(Array) } })
  const { id, secret } = json.signing_secret
  expect(validSignatures(asked, { [id]: secret })).toEqual([id])
  const scoped = await place.run([...commandOf('tenant keys create'), '--json'])
  expect(scoped).toMatchObject({ code: 0, json: { scopes: ['verify'] } })
})

it('says before anybody calls that SDKs refuse the verdicts, and what the decision is', async () => {
  const { json } = await place.run([...commandOf('config check'), '--json'])
  const about = json.warnings.filter((text: string) =>
    text.includes('every SDK refuses its production verdicts'),
  )
  expect(about).toEqual([
    expect.stringMatching(/acceptEvaluationGrade.*production\.md#the-grade-a-decision\.$/),
  ])
  expect(guide).toContain('## The grade: a decision')
})
