import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/package-root.js'
import { type Workplace, workplace } from '../support/command.js'

let place: Workplace
beforeAll(async () => {
  place = await workplace()
})
afterAll(() => place?.dispose())

const COMMANDS = [
  '',
  'serve',
  'tenant',
  'tenant create',
  'tenant list',
  'tenant login-link',
  'tenant production-key',
  'tenant revoke-key',
  'tenant reissue-key',
  'tenant rotate-signing',
  'compare',
  'evaluate',
  'jwt',
  'models',
  'models list',
  'models verify',
  'models build-baseline',
  'backup',
  'restore',
  'audit',
  'audit verify',
  'audit anchor',
  'keys',
  'keys instance-secret',
  'keys rotate-master',
  'config',
  'config show',
  'config check',
  'operator-password',
  'completion',
  'doctor',
]

const words = (command: string) => command.split(' ').filter(Boolean)

describe('--help', () => {
  for (const command of COMMANDS)
    it(`of "countersign ${command}" explains the command on stdout`, async () => {
      const { code, stdout, stderr } = await place.run([...words(command), '--help'])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toContain(`Usage: countersign${command ? ` ${command}` : ''}`)
      expect(stdout).toContain('--help')
    })

  it('lists every command that has a help page here', async () => {
    const listed = async (command: string[]) => {
      const { stdout } = await place.run([...command, '--help'])
      const [, section = ''] = stdout.split(/^Commands:\n/m)
      return [...section.matchAll(/^ {2}([a-z][a-z-]*)/gm)]
        .map(([, name]) => [...command, name!].join(' '))
        .filter((name) => !name.endsWith('help') && !name.startsWith('countersign'))
    }
    const groups = await Promise.all(
      [[], ['tenant'], ['models'], ['audit'], ['keys'], ['config']].map(listed),
    )
    expect(groups.flat().sort()).toEqual(COMMANDS.filter(Boolean).sort())
  })
})

it('--version prints the version of the package', async () => {
  const { version } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'))
  expect(await place.run(['--version'])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' })
})

describe('wrong usage', () => {
  for (const [what, args] of Object.entries({
    'no command': [],
    'an unknown command': ['server'],
    'an unknown option': ['serve', '--deamon'],
    'a missing argument': ['tenant', 'create'],
    'one argument too many': ['tenant', 'create', 'a', 'b'],
    'an option without its value': ['tenant', 'create', 'a', '--fmr'],
  }))
    it(`${what} ends with 2 and says how to do it on stderr`, async () => {
      const { code, stdout, stderr } = await place.run(args)
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toMatch(/Usage: countersign|run with --help for usage/)
    })
})

describe('a refusal', () => {
  it('is one line for people on stderr, ends with 1, and shows no stack', async () => {
    const result = await place.run(['tenant', 'create', 'not a name'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.stderr).toMatch(/^error: [^\n]+\n$/)
  })

  it('is one JSON document on stderr with --json', async () => {
    const result = await place.run(['tenant', 'create', 'not a name', '--json'])
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(JSON.parse(result.stderr)).toEqual({
      error: { code: 'invalid_tenant_name', message: expect.any(String) },
    })
  })

  it('of a configuration names the variable', async () => {
    const result = await place.run(['tenant', 'list', '--json'], { COUNTERSIGN_WORKERS: 'many' })
    expect(result).toMatchObject({ code: 1, stdout: '' })
    expect(result.error).toEqual({
      code: 'invalid_configuration',
      message: 'COUNTERSIGN_WORKERS is "many"; expected a whole number from 1 to 256.',
    })
  })
})

it('two first commands at once agree on one master key and one database', async () => {
  const fresh = await workplace()
  try {
    const results = await Promise.all(
      ['a', 'b', 'c'].map((name) => fresh.run(['tenant', 'create', name, '--json'])),
    )
    expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(Array(3).fill([0, '']))
    const ids = results.map(({ json }) => json.tenant_id).sort()
    const { json } = await fresh.run(['tenant', 'list', '--json'])
    expect(json.map(({ tenant_id }: { tenant_id: string }) => tenant_id).sort()).toEqual(ids)
    // Unsealing a secret needs the key under which it was sealed.
    const server = await fresh.serve()
    for (const { json } of results) {
      const response = await fetch(`${server.sandbox}/v1/health`, {
        headers: { Authorization: `Bearer ${json.sandbox_key}` },
      })
      expect(response.status).toBe(200)
    }
  } finally {
    await fresh.dispose()
  }
})
