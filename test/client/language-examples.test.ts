/** The further examples in Python and Go: capture sessions, webhooks, challenges, users and the audit log. */
import { execFile } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { type CaptureExample, exampleEnv, startCaptureExample } from '../support/capture-example.js'
import { base64, face } from '../support/faces.js'
import { buildGo, canBuildGo, canInstallPython, pythonBelow } from '../support/language-packages.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'
import { keepsToTheHostedPage } from './hosted-bank.js'

const EXAMPLES = packageFile('docs', 'examples')
const run = promisify(execFile)

const folder = temporaryFolder()
const python = pythonBelow(folder)

const LANGUAGES = [
  {
    language: 'Python',
    isThere: canInstallPython,
    command: async (example: string) => [await python(), join(EXAMPLES, 'python', `${example}.py`)],
  },
  {
    language: 'Go',
    isThere: canBuildGo,
    command: async (example: string) => [await buildGo(join(EXAMPLES, 'go', example), folder)],
  },
]

describe.each(LANGUAGES)('the example of the hosted page in $language', ({ isThere, command }) => {
  if (isThere) keepsToTheHostedPage(() => command('hosted'))
  else it.skip('carries a transfer out', () => {})
})

describe.each(LANGUAGES)('in $language,', ({ isThere, command }) => {
  let running: TestService
  let tenant: TestTenant
  let receiver: CaptureExample | undefined

  beforeAll(async () => {
    if (!isThere) return
    running = await startService({ COUNTERSIGN_DEADLINE_MS: '60000' })
    // The examples look at the system's clock.
    running.clock.now = Date.now
    tenant = await running.tenant()
  })
  afterAll(async () => {
    await receiver?.stop()
    await running?.stop()
  })

  const said = async (
    example: string,
    args: string[],
    environment: 'production' | 'sandbox',
    key: string,
  ) => {
    const [program = '', ...first] = await command(example)
    const baseUrl = running.service.url(environment)
    return (
      await run(program, [...first, ...args], { env: exampleEnv(tenant, { baseUrl, apiKey: key }) })
    ).stdout
      .trim()
      .split('\n')
  }

  it.skipIf(!isThere)('the example of a challenge answers it and is approved', async () => {
    const photo = join(folder, 'ada.jpg')
    await writeFile(photo, await face('ada'))
    const [asked, ...rest] = await said('challenge', [photo], 'sandbox', tenant.sandboxKey)
    expect(asked).toMatch(/^challenge frontal (turn|nod)_.* frontal$/)
    expect(rest).toEqual([
      'verify approved',
      expect.stringMatching(/^verdict approved urn:countersign:acr:face-active/),
    ])
  })

  it.skipIf(!isThere)('the example of records shows a user and the audit log', async () => {
    const { key, ...production } = await running.production(tenant)
    await production.enroll({ user_id: 'ada', image: base64(await face('ada')) })
    const lines = await said('records', ['ada'], 'production', key)
    expect(lines[0]).toBe('user ada enrolled none 1')
    expect(lines.slice(1).join('\n')).toMatch(/^\d+ \S+Z enroll 201$/m)
    expect((await said('records', ['grace'], 'production', key))[0]).toBe('user grace is not enrolled')
  })

  it.skipIf(!isThere)(
    'the receiver of webhooks acts once, and only on webhooks that are signed for it',
    async () => {
      const baseUrl = running.service.url('sandbox')
      receiver = await startCaptureExample(tenant, {
        baseUrl,
        apiKey: tenant.sandboxKey,
        command: await command('webhooks'),
      })
      const { address } = receiver
      const until = '2026-01-02T03:04:05.000Z'
      const send = async (id: string, environment: string) => {
        const body = JSON.stringify({
          id,
          type: 'user.locked_out',
          created_at: until,
          environment,
          tenant_id: tenant.id,
          data: { user_id: 'Zoë', rejections: 5, ends_at: until },
        })
        const t = Math.floor(Date.now() / 1000)
        const mac = createHmac('sha256', tenant.secret.secret)
          .update(`webhook:v2:${environment}:${t}:${id}:${body}`)
          .digest('hex')
        const signature = `t=${t},kid=${tenant.secret.id},v2=${mac}`
        const headers = {
          'Content-Type': 'application/json',
          'X-Svc-Webhook-Id': id,
          'X-Svc-Signature': signature,
        }
        return (await fetch(address, { method: 'POST', headers, body })).status
      }
      expect([await send('e1', 'sandbox'), await send('e1', 'sandbox')]).toEqual([204, 204])
      expect(await send('e2', 'production')).toBe(400)
      await expect
        .poll(() => receiver!.said().trim().split('\n').sort())
        .toEqual([`Zoë is locked out until ${until}`, 'wrong_environment'].sort())
    },
  )
})
