/** The examples in other languages, run as a reader would: against the vectors, and against a real service. */
import { execFile, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { packageFile } from '../../src/lib/package-root.js'
import { exampleEnv } from '../support/capture-example.js'
import { face } from '../support/faces.js'
import { canInstallPython, GO_ENV, pythonBelow } from '../support/language-packages.js'
import { serviceOfFile } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const EXAMPLES = packageFile('docs', 'examples')
const run = promisify(execFile)
const has = (program: string, ...args: string[]) => spawnSync(program, args).status === 0

const hasGo = has('go', 'version')
const hasShell = has('bash', '--version') && has('openssl', 'version') && has('curl', '--version')

const running = await serviceOfFile()
// The examples look at the system's clock.
running.clock.now = Date.now
const tenant = await running.tenant()
const folder = temporaryFolder()
const python = pythonBelow(folder)
/** Three to enrol, and the one to verify. */
let photos: [string, string, string, string]
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  const { key } = await running.production(tenant)
  const enrolled = ['ada.jpg', 'ada-2.jpg', 'ada-3.jpg'] as const
  const at = (name: string) => join(folder, name)
  photos = [at(enrolled[0]), at(enrolled[1]), at(enrolled[2]), at('ada-today.jpg')]
  for (const file of enrolled) await writeFile(join(folder, file), await face('ada'))
  await writeFile(photos[3], await face('adaToday'))
  env = { ...exampleEnv(tenant, { baseUrl: running.service.url('production'), apiKey: key }), ...GO_ENV }
  if (canInstallPython) await python()
})

const lines = async (program: string, args: string[], language: string, change: NodeJS.ProcessEnv = {}) => {
  const { stdout } = await run(program === 'python' ? await python() : program, args, {
    cwd: join(EXAMPLES, language.split(',')[0]!),
    env: { ...env, ...change },
  })
  return stdout.trim().split('\n')
}
const DONE = ['enroll', 'verify', 'verdict', 'delete']
const words = (said: string[]) => said.map((line) => line.split(' ')[0])

const PROGRAMS: Array<[string, boolean, string, string[]]> = [
  ['node', true, process.execPath, ['step-up.mjs']],
  ['python', canInstallPython, 'python', ['step_up.py']],
  ['python, with asyncio', canInstallPython, 'python', ['step_up_asyncio.py']],
  ['go', hasGo, 'go', ['run', '.']],
  ['shell', hasShell, './step-up.sh', []],
]

describe.each(PROGRAMS)('the example in %s', (language, isThere, program, args) => {
  it.skipIf(!isThere)('enrols, verifies, checks the verdict and erases', async () => {
    const said = await lines(program, [...args, ...photos], language)
    expect(words(said)).toEqual(DONE)
    expect(said.join('\n')).toMatch(/verify (200 )?approved\nverdict approved.*\ndelete (200 )?erased$/)
  })

  it.skipIf(!isThere)(
    'refuses everything under another secret, and names the signature as the reason',
    async () => {
      const failed = lines(program, [...args, ...photos], language, {
        CS_SIGNING_SECRETS: `${tenant.secret.id}:svc-sec-other`,
      })
      await expect(failed).rejects.toThrow(/signature|is not what it signed/)
    },
  )
})

describe.each(PROGRAMS)('the example in %s, when something is wrong,', (language, isThere, program, args) => {
  it.skipIf(!isThere)('refuses a verdict of evaluation grade unless it is set to accept it', async () => {
    const failed = lines(program, [...args, ...photos], language, { CS_ACCEPT_EVALUATION: '' })
    await expect(failed).rejects.toThrow(/evaluation|model_grade/)
  })

  it.skipIf(!isThere)('names a wrong API key as the reason', async () => {
    const failed = lines(program, [...args, ...photos], language, {
      CS_API_KEY: `svc-prod-${'0'.repeat(49)}`,
    })
    await expect(failed).rejects.toThrow('malformed_api_key')
  })

  it.skipIf(!isThere)('stops after the failed step, and erases the user that it has enrolled', async () => {
    const grace = join(folder, 'grace.jpg')
    await writeFile(grace, await face('grace'))
    const failed = lines(program, [...args, photos[0], grace], language).then(
      () => ({ stdout: 'passed', stderr: '' }),
      (error: { stdout: string; stderr: string }) => error,
    )
    const { stdout, stderr } = (await failed) as { stdout: string; stderr: string }
    const said = stdout.trim().split('\n')
    // Why, in one line, and no trace of the program's stack.
    if (language !== 'shell')
      expect(stderr.trim()).toMatch(/^.*rejection: no_match\. Offer another try.*\.(\nexit status 1)?$/)
    expect(words(said)).toEqual(['enroll', 'verify', 'delete'])
    expect(said[1]).toContain('rejected')
  })
})

it.skipIf(!hasShell)('the example in shell takes a photo longer than an argument may be', async () => {
  const long = join(folder, 'long.jpg')
  // Bytes behind the end of a JPEG are not looked at.
  await writeFile(long, Buffer.concat([await face('ada'), Buffer.alloc(400_000)]))
  const said = await lines('./step-up.sh', [long, photos[3]], 'shell')
  expect(words(said)).toEqual(DONE)
})

it.skipIf(!hasShell)('the test vectors hold in bash with openssl', async () => {
  const vectors = JSON.parse(await readFile(join(EXAMPLES, 'vectors.json'), 'utf8'))
  const judge = (call: string, args: string[], input = '') =>
    spawnSync('bash', ['-c', `. ./countersign.sh; ${call} "$@"`, 'bash', ...args], {
      cwd: join(EXAMPLES, 'shell'),
      input,
      encoding: 'utf8',
    })
  // biome-ignore lint/suspicious/noExplicitAny: a vector, looked into freely
  const held = (vector: any): string[] => vector.secrets.map(({ secret }: { secret: string }) => secret)
  for (const vector of vectors.responses) {
    const { signature, environment, method, target, status, request_id, now: at } = vector
    const signed = [signature, environment, method, target, String(status), request_id, String(at)]
    const args = [...signed, ...held(vector)]
    const judged = judge('signature_holds', args, vector.body)
    expect(judged.status === 0, `${vector.title} ${judged.stderr}`).toBe(vector.valid)
  }
  // The shell checks only the signature of a verdict.
  const ofSignature = [null, 'signature_invalid']
  for (const vector of vectors.verdicts.filter(({ error }: { error: string | null }) =>
    ofSignature.includes(error),
  )) {
    const judged = judge('jwt_claims', [vector.jwt, ...held(vector)])
    expect(judged.status === 0, `${vector.title} ${judged.stderr}`).toBe(vector.valid)
    if (vector.valid) expect(JSON.parse(judged.stdout).sub).toBe(vector.expected.user_id)
  }
})
