import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { loadOperatorPassword } from '../../src/dashboard/sign-in/operator-password.js'
import { packageFile } from '../../src/lib/package-root.js'
import { workplaceForEach } from '../support/command.js'
import { signInAt } from '../support/dashboard.js'
import { withDatabase } from '../support/database.js'

const place = workplaceForEach()

const opens = async (hash: string, password: string) =>
  (await loadOperatorPassword({ operatorPassword: hash, operatorPasswordFile: '' })).matches(password)

describe('operator-password', () => {
  it('prints the hash of a piped password, which signs in to the dashboard', async () => {
    const { code, stdout, stderr } = await place.spawn(['operator-password'], {}, 'correct horse of tests\n')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    await writeFile(place.path('operator.password'), stdout, { mode: 0o600 })
    const { admin } = await place.announce([], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    expect((await signInAt(admin, { password: 'correct horse of tests' })).status).toBe(201)
    expect((await signInAt(admin, { password: stdout.trim() })).status).toBe(401)
  })

  it('generates a password together with its hash', async () => {
    const { json } = await place.ask('operator-password --generate')
    expect(await opens(json.hash, json.password)).toBe(true)
    const people = await place.run(['operator-password', '--generate'])
    const [, password] = /\n {2}(\S+)\n/.exec(people.stderr)!
    expect(await opens(people.stdout.trim(), password!)).toBe(true)
  })

  it('resets the password of a running service, ends the sessions of the old one, and records it in every audit log', async () => {
    await place.run(['tenant', 'create', 'acme'])
    const { admin, stderr } = await place.announce([], { COUNTERSIGN_OPERATOR_PASSWORD: '' })
    const [, old] = /shown only now:\n\n {2}(\S+)\n/.exec(stderr)!
    const cookie = (await signInAt(admin, { password: old! })).headers.get('set-cookie')!.split(';')[0]!
    const session = () => fetch(`${admin}/api/session`, { headers: { Cookie: cookie } })
    expect((await session()).status).toBe(200)
    const { code, stdout } = await place.run(['operator-password', '--reset'])
    expect(code).toBe(0)
    expect((await session()).status).toBe(401)
    expect((await signInAt(admin, { password: old! })).status).toBe(401)
    expect((await signInAt(admin, { password: stdout.trim() })).status).toBe(201)
    const entries = withDatabase(place, (database) =>
      database.prepare<[], string>('SELECT entry FROM audit').pluck().all(),
    )
    expect(entries.map((entry) => JSON.parse(entry))).toMatchObject([
      { event: 'tenant_created', actor: 'operator' },
      { event: 'signed_in', actor: 'dashboard:operator' },
      { event: 'operator_password_reset', actor: 'operator' },
      { event: 'sign_in_failed', actor: 'dashboard', count: 1 },
      { event: 'signed_in', actor: 'dashboard:operator' },
    ])
    expect((await place.run(['audit', 'verify'])).code).toBe(0)
  })

  it('refuses to reset a password from the environment, or one that no start has made', async () => {
    const early = await place.ask('operator-password --reset')
    expect({ code: early.code, error: early.error.code }).toEqual({ code: 1, error: 'database_missing' })
    await place.run(['tenant', 'create', 'acme'])
    const env = { COUNTERSIGN_OPERATOR_PASSWORD: 'correct horse of tests' }
    const given = await place.ask('operator-password --reset', env)
    expect({ code: given.code, error: given.error.code }).toEqual({ code: 1, error: 'invalid_configuration' })
  })

  it.each([
    ['a password of one character', 'a\n', 'weak_password'],
    ['a password of fourteen characters', 'abcdefghijklmn\n', 'weak_password'],
    ['a password of few characters again and again', 'abababababababab\n', 'weak_password'],
    ['nothing', '\n', 'unusable_password'],
    ['two lines', 'one\ntwo\n', 'unusable_password'],
    ['a space before it', ' one\n', 'unusable_password'],
  ])('refuses %s', async (_, input, code) => {
    const refused = await place.spawn(['operator-password', '--json'], {}, input)
    expect(refused).toMatchObject({ code: 1, stdout: '', error: { code } })
  })

  // util-linux's `script` gives it a terminal.
  const hasScript = spawnSync('script', ['--version']).status === 0
  describe.runIf(hasScript)('on a terminal', () => {
    const main = packageFile('dist', 'src', 'cli', 'main.js')

    /** Types an answer when it is asked for. */
    async function type(answers: Record<string, string>) {
      const command = `${process.execPath} ${main} operator-password`
      const child = spawn('script', ['-qec', command, '/dev/null'])
      let shown = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        shown += text
        for (const [question, answer] of Object.entries(answers))
          if (shown.includes(question)) {
            delete answers[question]
            child.stdin.write(answer)
          }
      })
      const [code] = await once(child, 'close')
      return { code, shown }
    }

    it('asks twice and does not echo what is typed', async () => {
      const { code, shown } = await type({
        'Password: ': 's3cret of the test\r',
        'Again: ': 's3cret of the test\r',
      })
      expect({ code, echo: shown.includes('s3cret') }).toEqual({ code: 0, echo: false })
      expect(await opens(/scrypt\S+/.exec(shown)![0], 's3cret of the test')).toBe(true)
    })

    for (const [what, answers, message] of [
      [
        'two that differ',
        { 'Password: ': 's3cret of the test\r', 'Again: ': 's3cret of the tes\r' },
        'The two passwords differ',
      ],
      ['end of file', { 'Password: ': '\u0004' }, 'No password was entered.'],
      ['an interrupt', { 'Password: ': 's3\u0003' }, 'No password was entered.'],
    ] as const)
      it(`ends with 1 at ${what}`, async () => {
        const { code, shown } = await type({ ...answers })
        expect({ code, echo: shown.includes('s3') }).toEqual({ code: 1, echo: false })
        expect(shown).toContain(message)
        expect(shown).not.toContain('scrypt$')
      })
  })
})
