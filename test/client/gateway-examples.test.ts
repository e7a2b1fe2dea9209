/** The examples that check public verdicts, run as a stranger would: with the issuer's address, against a real service. */
import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { base64 } from '../support/faces.js'
import { plain } from '../support/images.js'
import { buildGo, canBuildGo } from '../support/language-packages.js'
import { serviceOfFile } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const run = promisify(execFile)
const ACTION = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR' }
/** The first Python of the path, and the system's where the first one lacks the packages. */
const python = ['python3', '/usr/bin/python3'].find(
  (one) => spawnSync(one, ['-c', 'import jwt, cryptography']).status === 0,
)
const PROGRAMS = [
  { name: 'jose', program: process.execPath, file: 'check.mjs' },
  { name: 'PyJWT', program: python, file: 'check.py' },
]

const running = await serviceOfFile()
// The examples look at the system's clock.
running.clock.now = Date.now
const tenant = await running.tenant()
const image = base64(await plain())
const { body: verdict } = await tenant.sandbox.verify({ user_id: 'ada+match', image, action: ACTION })

describe.each(PROGRAMS)('the example with $name', ({ program, file }) => {
  const check = (token: string, audience = tenant.id) =>
    run(program!, [
      packageFile('docs', 'examples', 'gateway', file),
      running.service.url('sandbox'),
      audience,
      token,
    ])

  it.skipIf(!program)('takes a verdict of the service, and no other token', async () => {
    expect((await check(verdict.jwt_public)).stdout).toMatch(
      /^approved for ada\+match: action [0-9a-f]{64}\n$/,
    )
    const [header, claims, signature] = verdict.jwt_public.split('.')
    const changed = Buffer.from(claims!, 'base64url').toString().replace('ada+match', 'eve+match')
    await expect(
      check(`${header}.${Buffer.from(changed).toString('base64url')}.${signature}`),
    ).rejects.toThrow()
    await expect(check(verdict.jwt)).rejects.toThrow()
    await expect(check(verdict.jwt_public, 'ten_other')).rejects.toThrow()
  })
})

const folder = temporaryFolder()
const GATEWAY = packageFile('docs', 'examples', 'gateway')
const SDKS = [
  { name: 'TypeScript', command: () => [process.execPath, join(GATEWAY, 'verify.mjs')] },
  { name: 'Python', command: python && (() => [python, join(GATEWAY, 'verify.py')]) },
  {
    name: 'Go',
    command:
      canBuildGo && (async () => [await buildGo(packageFile('docs', 'examples', 'go', 'public'), folder)]),
  },
]

describe.each(SDKS)('the example with the SDK for $name', ({ command }) => {
  it.skipIf(!command)(
    'takes a verdict for its user and action, and for no other user',
    async () => {
      const [program, ...args] = await (command as () => Promise<string[]>)()
      const env = {
        ...process.env,
        CS_ENVIRONMENT: 'sandbox',
        PYTHONPATH: packageFile('clients', 'python'),
        PYTHONDONTWRITEBYTECODE: '1',
      }
      const check = (user: string) =>
        run(program!, [...args, running.service.url('sandbox'), tenant.id, user, verdict.jwt_public], { env })
      expect((await check('ada+match')).stdout).toMatch(/^ada\+match may do it: ver_/)
      await expect(check('eve')).rejects.toThrow(/another user/)
    },
    120_000,
  )
})
