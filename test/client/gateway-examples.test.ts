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
/** Run a program with one list of arguments after the other, in one process: most of its time is the import of its library. */
const AGAIN_IN_NODE = `
import { pathToFileURL } from 'node:url'
const [node, file, lists] = process.argv
for (const [at, args] of JSON.parse(lists).entries()) {
  process.argv = [node, file, ...args]
  await import(pathToFileURL(file) + '?' + at).catch(() => console.log('refused'))
}`
const AGAIN_IN_PYTHON = `
import json, runpy, sys
file, lists = sys.argv[1:]
for args in json.loads(lists):
    sys.argv = [file, *args]
    try:
        runpy.run_path(file, run_name="__main__")
    except (Exception, SystemExit):
        print("refused")`
const PROGRAMS = [
  {
    name: 'jose',
    program: process.execPath,
    again: ['--input-type=module', '-e', AGAIN_IN_NODE],
    file: 'check.mjs',
  },
  { name: 'PyJWT', program: python, again: ['-c', AGAIN_IN_PYTHON], file: 'check.py' },
]

const running = await serviceOfFile()
// The examples look at the system's clock.
running.clock.now = Date.now
const tenant = await running.tenant()
const image = base64(await plain())
const { body: verdict } = await tenant.sandbox.verify({ user_id: 'ada+match', image, action: ACTION })

describe.each(PROGRAMS)('the example with $name', ({ program, again, file }) => {
  it.skipIf(!program)('takes a verdict of the service, and no other token', async () => {
    const [header, claims, signature] = verdict.jwt_public.split('.')
    const changed = Buffer.from(claims!, 'base64url').toString().replace('ada+match', 'eve+match')
    const checks = [
      [tenant.id, verdict.jwt_public],
      [tenant.id, `${header}.${Buffer.from(changed).toString('base64url')}.${signature}`],
      [tenant.id, verdict.jwt],
      ['ten_other', verdict.jwt_public],
    ]
    const lists = checks.map((args) => [running.service.url('sandbox'), ...args])
    const example = packageFile('docs', 'examples', 'gateway', file)
    const { stdout } = await run(program!, [...again, example, JSON.stringify(lists)])
    expect(stdout).toMatch(/^approved for ada\+match: action [0-9a-f]{64}\n(refused\n){3}$/)
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
  it.skipIf(!command)('takes a verdict for its user and action, and for no other user', async () => {
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
  })
})
