/** Clients that others generate from the OpenAPI document: two generators, their clients compiled under strict and called. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateSource } from 'oazapfts'
import { generateApi } from 'swagger-typescript-api'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { packageFile } from '../src/lib/package-root.js'
import { base64, face } from './support/faces.js'
import { startService, type TestService, type TestTenant } from './support/service.js'

const DOCUMENT = packageFile('docs', 'openapi.json')
let folder: string
let running: TestService
let tenant: TestTenant
let image: string

beforeAll(async () => {
  // Inside the package, so that its dependencies are found, and where the compiler writes.
  folder = await mkdtemp(packageFile('dist', 'test', 'generated-clients-'))
  running = await startService()
  tenant = await running.tenant()
  image = base64(await face('ada'))
})
afterAll(async () => {
  await running?.stop()
  if (folder) await rm(folder, { recursive: true, force: true })
})

/** The compiler's complaints. */
function compile(file: string): string {
  return spawnSync(
    packageFile('node_modules', '.bin', 'tsc'),
    [
      ...['--strict', '--skipLibCheck', '--ignoreConfig'],
      ...['--target', 'ES2023', '--lib', 'ES2024,DOM,DOM.Iterable', '--types', 'node'],
      ...['--module', 'ESNext', '--moduleResolution', 'Bundler', '--rootDir', folder, join(folder, file)],
    ],
    { encoding: 'utf8', cwd: folder },
  ).stdout
}

/** Compiles and runs the calls over the client, and resolves with their output. */
async function call(name: string, client: string, calls: string): Promise<string> {
  await writeFile(join(folder, `${name}.ts`), client)
  await writeFile(join(folder, `${name}-calls.ts`), calls)
  expect(compile(`${name}-calls.ts`)).toBe('')
  const env = {
    ...process.env,
    ORIGIN: running.service.url('sandbox').replace(/\/v1$/, ''),
    KEY: tenant.sandboxKey,
    IMAGE: image,
  }
  const { stdout } = await promisify(execFile)(process.execPath, [join(folder, `${name}-calls.js`)], { env })
  return stdout
}

const SAID = 'enrolled approved ada none 0\n'

it('swagger-typescript-api makes one that compiles and works', async () => {
  const { files } = await generateApi({
    input: DOCUMENT,
    output: false,
    httpClientType: 'fetch',
    silent: true,
  })
  const calls = `
import { Api, type EnrollRequest, type User } from './swagger.js'
const { ORIGIN = '', KEY = '', IMAGE = '' } = process.env
const api = new Api({ baseUrl: ORIGIN, baseApiParams: { headers: { Authorization: \`Bearer \${KEY}\` } } })
const enrolment: EnrollRequest = { user_id: 'ada', image: IMAGE, replace: true }
const { data: enrolled } = await api.v1.enroll(enrolment)
const { data: verified } = await api.v1.verify({ user_id: 'ada', images: [IMAGE], action: { type: 'login' } })
const verdict: 'approved' | 'rejected' = verified.verdict
const user: User = (await api.v1.getUser('ada')).data
const views: number = user.reference.views
const { data: audit } = await api.v1.listAudit({ limit: 2, event: 'verify' })
console.log(enrolled.status, verdict, user.user_id, user.lockout.status, audit.data.length)
export { views }
`
  expect(await call('swagger', files[0]!.fileContent, calls)).toBe(SAID)
})

it('oazapfts makes one that compiles and works', async () => {
  const calls = `
import { defaults, enroll, getUser, listAudit, verify, type User } from './oazapfts.js'
const { ORIGIN = '', KEY = '', IMAGE = '' } = process.env
defaults.baseUrl = ORIGIN
defaults.headers = { Authorization: \`Bearer \${KEY}\` }
const enrolled = await enroll({ user_id: 'ada', image: IMAGE, replace: true })
if (enrolled.status !== 201) throw new Error(String(enrolled.status))
const verified = await verify({ user_id: 'ada', images: [IMAGE], action: { type: 'login' } })
if (verified.status !== 200) throw new Error(verified.data.code)
const verdict: 'approved' | 'rejected' = verified.data.verdict
const found = await getUser('ada')
if (found.status !== 200) throw new Error(found.data.code)
const user: User = found.data
const audit = await listAudit({ limit: 2, event: 'verify' })
if (audit.status !== 200) throw new Error(audit.data.code)
console.log(enrolled.data.status, verdict, user.user_id, user.lockout.status, audit.data.data.length)
`
  expect(await call('oazapfts', await generateSource(DOCUMENT), calls)).toBe(SAID)
})
