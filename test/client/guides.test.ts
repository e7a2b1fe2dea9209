/** The guides: their code is that of docs/examples, which is run here, in examples.test.ts and in language-examples.test.ts; their links lead somewhere. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { FRAME_GUIDANCE } from '../../clients/capture/guidance-codes.js'
import { GUIDANCE_TEXTS } from '../../clients/capture/guidance-texts.js'
import { Countersign, type CountersignOptions } from '../../clients/node/index.js'
// @ts-expect-error plain JavaScript for the browser
import { enrol, transfer, transferByPhone } from '../../docs/examples/express/page.mjs'
// @ts-expect-error plain JavaScript
import { readSecrets, writeSecrets } from '../../docs/examples/rotation/secrets.mjs'
import { packageFile } from '../../src/lib/package-root.js'
import { exampleEnv } from '../support/capture-example.js'
import { answerTo } from '../support/challenges.js'
import { compile } from '../support/compiler.js'
import { face } from '../support/faces.js'
import { blurredFace, plain } from '../support/images.js'
import { serviceOfFile } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const run = promisify(execFile)
const EXAMPLES = packageFile('docs', 'examples')
const GUIDES = packageFile('docs', 'guides')
const pages = [
  packageFile('README.md'),
  join(EXAMPLES, 'README.md'),
  ...['api-overview.md', 'verdict.md', 'sdk-python.md', 'sdk-go.md', 'migration.md', 'faq.md'].map((name) =>
    packageFile('docs', name),
  ),
  packageFile('clients', 'python', 'README.md'),
  packageFile('clients', 'go', 'README.md'),
  ...readdirSync(GUIDES).map((name) => join(GUIDES, name)),
]

/** A marker, and the code block that repeats the file it names, or the part of it that has a line, both indented alike. */
const INCLUDED = /^( *)<!-- file: (\S+)(?: part: (.+?))? -->\n *```(\w+)\n([\s\S]*?)^ *```$/gm
const CODE = /^ *```(?:js|jsx|ts|mjs|python|go)$/gm

/** Returns the only part of a program with a line that begins like this. A part ends at an empty line before a line without indentation. */
function partOf(program: string, line: string): string {
  const parts = program.split(/\n\n(?=\S)/).filter((part) => `\n${part}`.includes(`\n${line}`))
  if (parts.length !== 1) throw new Error(`${parts.length} parts have the line ${line}`)
  return parts[0]!.trimEnd()
}

function withFiles(page: string): string {
  return readFileSync(page, 'utf8').replace(
    INCLUDED,
    (_match, indent: string, file: string, part: string | undefined, language: string) => {
      const whole = readFileSync(resolve(dirname(page), file), 'utf8').trimEnd()
      const code = part === undefined ? whole : partOf(whole, part)
      const marker = `<!-- file: ${file}${part === undefined ? '' : ` part: ${part}`} -->`
      const block = [marker, `\`\`\`${language}`, ...code.split('\n'), '```']
      return block.map((line) => (line ? indent + line : line)).join('\n')
    },
  )
}

describe.each(pages.map((page) => [page.slice(packageFile().length + 1), page]))('%s', (_name, page) => {
  it('shows the code of the examples as it is (UPDATE_DOCS=1 writes it)', () => {
    const expected = withFiles(page)
    if (process.env.UPDATE_DOCS === '1') writeFileSync(page, expected)
    expect(readFileSync(page, 'utf8')).toBe(expected)
  })

  it('shows no code that is not run', () => {
    const text = readFileSync(page, 'utf8')
    expect(text.match(CODE)?.length ?? 0).toBe([...text.matchAll(INCLUDED)].length)
  })

  it('links to files that are there', () => {
    const text = readFileSync(page, 'utf8')
    const links = [...text.matchAll(/(?:\]\(|\b(?:src|srcset)=")(?!https?:|\/)([^)"#\s]+)/g)].map(
      ([, link]) => link!,
    )
    expect(links.filter((link) => !existsSync(resolve(dirname(page), link)))).toEqual([])
  })
})

it('the guide to the capture component lists exactly the codes of guidance', () => {
  const guide = readFileSync(join(GUIDES, 'capture.md'), 'utf8')
  const [, listed = ''] = /^The codes: (.*)\. `texts\[/m.exec(guide) ?? []
  expect(listed.split(', ')).toEqual(FRAME_GUIDANCE.map((code) => `\`${code}\``))
})

it('the JavaScript of the examples compiles under strict', () => {
  // Each example has a folder. The files next to the folders make the test vectors.
  const files = readdirSync(EXAMPLES, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\/.*\.m?js$/.test(name),
  )
  expect(files.length).toBeGreaterThan(4)
  const options = ['--noEmit', '--allowJs', '--checkJs', '--types', 'node', '--module', 'NodeNext']
  const paths = files.map((name) => join(EXAMPLES, name))
  expect(compile(paths, options)).toBe('')
})

const folder = temporaryFolder()
const photo = join(folder, 'ada.jpg')
writeFileSync(photo, await face('ada'))
let aheadMs = 0
const running = await serviceOfFile()
// The examples look at the system's clock.
running.clock.now = () => Date.now() + aheadMs
const tenant = await running.tenant()
const { key } = await running.production(tenant)
const production = exampleEnv(tenant, { baseUrl: running.service.url('production'), apiKey: key })
const sandbox = exampleEnv(tenant, { baseUrl: running.service.url('sandbox'), apiKey: tenant.sandboxKey })

/** Runs a program of the examples. @returns what it prints */
async function example(script: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return (await run(process.execPath, [join(EXAMPLES, script), ...args], { env })).stdout
}

describe('the code of the guides', () => {
  /** Addresses of the application of the guide, over production and over the sandbox. */
  let bank: string
  let sandboxBank: string
  const apps: ChildProcess[] = []

  afterAll(async () => {
    for (const app of apps.filter(({ exitCode }) => exitCode === null)) {
      app.kill()
      await once(app, 'exit')
    }
  })

  async function startBank(env: NodeJS.ProcessEnv): Promise<string> {
    const app = spawn(process.execPath, [join(EXAMPLES, 'express', 'server.mjs')], { env })
    apps.push(app)
    app.stderr!.setEncoding('utf8').on('data', (text) => process.stderr.write(text))
    return String((await once(app.stdout!, 'data'))[0]).trim()
  }

  it('README: its program prints in the sandbox what README shows', async () => {
    const readme = readFileSync(packageFile('README.md'), 'utf8')
    const [, shown] = /^node transfer\.mjs .*\n```\n[\s\S]*?```\n([\s\S]*?)```/m.exec(readme)!
    expect(await example('node/transfer.mjs', [photo, photo], sandbox)).toBe(shown)
  })

  it('quick start: runs in the sandbox with a user of any name', async () => {
    const stdout = await example('node/step-up.mjs', [photo, photo], sandbox)
    expect(stdout).toBe('enroll enrolled\nverify approved\nverdict approved 1250.00\ndelete erased\n')
  })

  const shell = spawnSync('bash', ['-c', 'command -v curl base64']).status === 0
  it.skipIf(!shell)(
    'first calls: the commands with curl do what they say, with photos of 150 kB too',
    async () => {
      await mkdir(join(folder, 'data', 'demo'), { recursive: true })
      // Bytes behind the end of a JPEG are not looked at; an argument of so many would not be taken.
      for (const [file, name] of [
        ['ada.jpg', 'ada'],
        ['ada-2.jpg', 'ada'],
        ['ada-3.jpg', 'ada'],
        ['ada-today.jpg', 'adaToday'],
      ] as const)
        writeFileSync(
          join(folder, 'data', 'demo', file),
          Buffer.concat([await face(name), Buffer.alloc(150_000)]),
        )
      const page = readFileSync(join(GUIDES, 'curl.md'), 'utf8')
      const commands = [...page.matchAll(/^\$ (.*\n(?: {4}.*\n)*)/gm)]
        .map(([, command]) => command!)
        .filter((command) => command.includes('curl -s'))
      const own = await running.tenant()
      const { key } = await running.production(own)
      const answers = []
      for (const command of commands) {
        const here = command
          .replace('http://127.0.0.1:8081/v1', running.service.url('sandbox'))
          .replace('http://127.0.0.1:8080/v1', running.service.url('production'))
          .replace('svc-sbx-…', own.sandboxKey)
        const env = { ...process.env, KEY: key }
        const { stdout } = await run('bash', ['-c', here], { cwd: folder, env })
        answers.push(JSON.parse(stdout))
      }
      expect(answers).toMatchObject([
        { verdict: 'approved' },
        { status: 'enrolled', quality: { views: 3 } },
        { verdict: 'approved' },
      ])
    },
  )

  it('testing: an application’s tests pass without a service', async () => {
    // Which files `node --test` takes from a folder that it is given, and how it reports unasked, differs between versions of Node.
    const { stdout } = await run(process.execPath, ['--test', '--test-reporter=tap'], {
      cwd: join(EXAMPLES, 'testing'),
    })
    expect(stdout).toMatch(/^# pass 8$/m)
  })

  const urlOf = (photo: Buffer) => `data:image/jpeg;base64,${photo.toString('base64')}`
  /** Answers a challenge with one picture, again and again: a photo that is held up. */
  const frames = (image: string) => async (asked: { steps: string[] }) =>
    answerTo({ challenge_id: '', nonce: '', ...asked }, image).frames

  it('step-up: a transfer needs a person before a camera, and a photo of the user is none', async () => {
    bank = await startBank(production)
    const ada = urlOf(await face('ada'))
    expect(await enrol(bank, 'ada', async () => ada)).toBe(3)
    for (const image of [ada, urlOf(await face('adaToday'))])
      await expect(transfer(bank, 'ada', '1250.00', 'Grace', frames(image))).rejects.toThrow(
        'liveness_failed',
      )
    const blurred = async () => urlOf(await blurredFace())
    await expect(enrol(bank, 'blurred', blurred)).rejects.toThrow(/^Please take another photo\. [A-Z].*\.$/)
    const landscape = urlOf(await plain())
    await expect(enrol(bank, 'nobody', async () => landscape)).rejects.toThrow(
      `Please take another photo. ${GUIDANCE_TEXTS.no_face}`,
    )
  })

  it('step-up: a verdict made only of photos carries no transfer out, and neither does a capture that was seen before', async () => {
    sandboxBank = await startBank(sandbox)
    const image = urlOf(await face('ada'))
    const action = { type: 'transfer', amount: '1250.00', to: 'Grace' }
    expect(await transfer(sandboxBank, 'ada+match', action.amount, action.to, frames(image))).toEqual({
      done: action,
      countersigned: expect.stringMatching(/^ver_/),
    })
    const client = new Countersign({
      baseUrl: running.service.url('sandbox'),
      apiKey: tenant.sandboxKey,
      signingSecret: tenant.secret,
    })
    const send = async (user: string, jwt: string) => {
      const headers = { 'Content-Type': 'application/json', 'X-User': user, 'X-Step-Up-Verdict': jwt }
      const request = { method: 'POST', headers, body: JSON.stringify(action) }
      const response = await fetch(`${sandboxBank}/transfers`, request)
      return [response.status, ((await response.json()) as { code: string }).code]
    }
    const { jwt } = await client.verify({ user_id: 'ada+match', image, action })
    expect(await send('ada+match', jwt)).toEqual([401, 'wrong_context'])
    const replayed = await client.verify({ user_id: 'ada+replayed', image, action })
    expect((await send('ada+replayed', replayed.jwt))[0]).toBe(401)
    await expect(transfer(sandboxBank, 'ada+flat', '1.00', 'Grace', frames(image))).rejects.toThrow(
      'liveness_failed',
    )
  })

  it('step-up: offers the way without the face after a lockout or three refusals, and takes it from every signed-in user', async () => {
    const [ada, unreadable] = [urlOf(await face('ada')), urlOf(Buffer.from('no picture'))]
    const refused = (at: string, user: string, photo: string) =>
      transfer(at, user, '1.00', 'Grace', frames(photo)).then(
        () => null,
        ({ message, otherWay }: { message: string; otherWay: boolean }) => [message, otherWay],
      )
    await enrol(sandboxBank, 'bea', async () => ada)
    const again = expect.stringMatching(/^Please take another photo\./)
    for (const otherWay of [false, false, true])
      expect(await refused(sandboxBank, 'bea', unreadable)).toEqual([again, otherWay])
    expect(await refused(sandboxBank, 'bea', ada)).toBeNull()
    expect(await refused(sandboxBank, 'bea', unreadable)).toEqual([again, false])
    expect(await refused(sandboxBank, 'dan+locked_out', ada)).toEqual(['No more tries for now.', true])

    await enrol(bank, 'cyd', async () => ada)
    const elsewhere = new Countersign({
      baseUrl: production.CS_BASE_URL!,
      apiKey: production.CS_API_KEY!,
      signingSecret: tenant.secret,
    })
    for (let i = 0; i < 5; i++)
      await elsewhere.verify({ user_id: 'cyd', image: await face('grace'), action: 'x' })
    expect(await refused(bank, 'cyd', ada)).toEqual(['No more tries for now.', true])
    expect(await transferByPhone(bank, 'dan', '1.00', 'Grace')).toEqual({
      waiting: expect.any(String),
      message: expect.any(String),
    })
    expect(await transferByPhone(bank, '', '1.00', 'Grace')).toMatchObject({ error: 'unauthenticated' })
  })

  it('step-up: answers every failure in JSON, without a stack', async () => {
    const headers = { 'Content-Type': 'application/json', 'X-User': 'nobody-enrolled' }
    const image = urlOf(await plain())
    const refusals: Array<[string, string, number, string]> = [
      ['/enrolment', JSON.stringify({ photos: [image] }), 422, 'face_not_found'],
      ['/enrolment', JSON.stringify({ photos: ['no photo'] }), 422, 'image_unreadable'],
      ['/step-up/challenge', JSON.stringify({ action: 'x' }), 409, 'reference_not_found'],
      ['/step-up/challenge', JSON.stringify({ action: 'x'.repeat(5000) }), 503, 'unavailable'],
      ['/step-up', JSON.stringify({ frames: [] }), 400, 'invalid_request'],
      ['/step-up', '{', 400, 'invalid_request'],
    ]
    for (const [path, body, status, error] of refusals) {
      const response = await fetch(bank + path, { method: 'POST', headers, body })
      expect(response.status).toBe(status)
      expect(await response.json()).toEqual({ error, message: expect.any(String) })
    }
  })

  it('rotation: verdicts hold before, during and after the overlap, without a restart', async () => {
    const file = join(folder, 'secrets.json')
    const { id, secret } = tenant.secret
    await writeSecrets(file, [{ id, secret }])
    const backend = new Countersign({
      baseUrl: running.service.url('sandbox'),
      apiKey: tenant.sandboxKey,
      tenantId: tenant.id,
      signingSecret: () => readSecrets(file),
      now: () => Date.now() + aheadMs,
    })
    const image = await face('ada')
    const stepUp = async () => {
      const { jwt } = await backend.verify({ user_id: 'ada+match', image, action: 'x' })
      return backend.verifyVerdict(jwt, { userId: 'ada+match', action: 'x' })
    }
    await stepUp()
    const stdout = await example('rotation/rotate.mjs', [file], production)
    expect(stdout).toMatch(new RegExp(`^sec_\\w+ signs; ${tenant.secret.id} is valid until 20`))
    await stepUp()
    aheadMs = 31 * 60_000
    await stepUp()
    aheadMs = 0
  })

  it.each(['that leaked', 'that got lost'])('rotation: a secret %s', async (accident) => {
    const file = join(folder, `${accident}.json`)
    const own = await running.tenant()
    const { id, secret } = own.secret
    await writeSecrets(file, [{ id, secret }])
    const access = { baseUrl: running.service.url('sandbox'), apiKey: own.sandboxKey, tenantId: own.id }
    const env = { ...process.env, CS_BASE_URL: access.baseUrl, CS_API_KEY: access.apiKey }
    const rotate = (...options: string[]) => example('rotation/rotate.mjs', [file, ...options], env)
    const image = await face('ada')
    const stepUp = async (signingSecret: CountersignOptions['signingSecret']) => {
      const backend = new Countersign({ ...access, signingSecret, now: () => running.clock.now() })
      const { jwt } = await backend.verify({ user_id: 'ada+match', image, action: 'x' })
      return backend.verifyVerdict(jwt, { userId: 'ada+match', action: 'x' })
    }
    const inFile = async (): Promise<Array<{ id: string; secret: string }>> => readSecrets(file)

    await rotate()
    // The process that died had not written the new secret.
    if (accident === 'that got lost') await writeSecrets(file, [{ id, secret }])
    await expect(rotate()).rejects.toThrow('rotation_in_progress')
    await rotate('--force')
    expect(await inFile()).toHaveLength(accident === 'that got lost' ? 1 : 2)
    await stepUp(inFile)
    // The secrets have the documented form of an environment variable, and no ids.
    await stepUp((await inFile()).map((one) => `${one.id}:${one.secret}`))
    await stepUp((await inFile()).map((one) => one.secret))
    await expect(stepUp(own.secret)).rejects.toThrow('No configured secret')
  })
})
