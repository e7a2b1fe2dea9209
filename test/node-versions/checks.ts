/** The checks for every version of Node: from `npm start` on a fresh copy of the checkout to its end. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { EXIT } from '../../src/cli/lib/output.js'
import { type ApiClient, apiClient } from '../support/client.js'

/** A checkout, the `node` for it, and a data folder. */
export interface Place {
  checkout: string
  bin: string
  dataDir: string
}

interface Running {
  child: ChildProcessWithoutNullStreams
  production: string
  sandbox: string
  sandboxKey: string
  /** Folder with three photos of Ada to enrol, ada-today.jpg and grace.jpg. */
  photos: string
}

export interface Check {
  title: string
  /** @throws Error that says what is wrong */
  run(): Promise<void>
}

/** Includes installing and compiling on a busy machine. */
const START_TIMEOUT_MS = 20 * 60_000
const COMMAND_TIMEOUT_MS = 5 * 60_000

/** The checks, each after those whose results it needs. */
export function checksOf(place: Place): Check[] {
  const env = environmentOf(place)
  const command = async (...args: string[]) => {
    const node = join(place.bin, 'node')
    const main = join(place.checkout, 'dist', 'src', 'cli', 'main.js')
    // The default pack is of evaluation grade. `serve --demo` takes it as it is, `doctor` only when it is accepted by name.
    const acceptingPack = { ...env, COUNTERSIGN_ACCEPT_PACK: 'standard' }
    const options = { env: acceptingPack, cwd: place.checkout, timeout: COMMAND_TIMEOUT_MS }
    const { stdout } = await promisify(execFile)(node, [main, ...args, '--json'], options).catch((error) => {
      // The exit code for two different people is an answer as well.
      if (error.code !== EXIT.different) throw new Error(`${error.message}\n${error.stdout}`)
      return error as { stdout: string }
    })
    return JSON.parse(stdout)
  }
  let started: Running | undefined
  const running = (): Running => {
    if (!started) throw new Error('the service did not start')
    return started
  }
  const photo = async (name: string) => (await readFile(join(running().photos, name))).toString('base64')
  let production: ApiClient | undefined
  const inProduction = (): ApiClient => {
    if (!production) throw new Error('there is no production key')
    return production
  }
  const verify = async (client: ApiClient, userId: string, image: string) => {
    const { status, body } = await client.verify({ user_id: userId, image, action: { amount: 1 } })
    expectSame('status', status, 200)
    return body
  }
  return [
    {
      title: 'npm start installs, compiles, builds and serves',
      async run() {
        started = await start(place, env)
      },
    },
    {
      title: 'POST /v1/verify clears in the sandbox, which issues the production key',
      async run() {
        const { sandbox, sandboxKey } = running()
        const { verdict } = await verify(apiClient(sandbox, sandboxKey), 'ada+match', await photo('ada.jpg'))
        expectSame('verdict', verdict, 'approved')
        const { production_key: key } = await command('tenant', 'production-key', 'demo')
        production = apiClient(running().production, key)
      },
    },
    {
      title: 'POST /v1/enroll takes a face',
      async run() {
        const { status } = await inProduction().enroll({ user_id: 'ada', image: await photo('ada.jpg') })
        expectSame('status', status, 201)
      },
    },
    {
      title: 'POST /v1/verify approves the same person, and no other',
      async run() {
        const same = await verify(inProduction(), 'ada', await photo('ada-today.jpg'))
        const other = await verify(inProduction(), 'ada', await photo('grace.jpg'))
        expectSame('verdicts', [same.verdict, other.verdict].join(), 'approved,rejected')
      },
    },
    {
      title: 'GET /v1/health is well',
      async run() {
        const { status, body } = await inProduction().health()
        expectSame('status', `${status} ${body.status}`, '200 ok')
      },
    },
    {
      title: 'POST /v1/keys/rotate-signing makes a new secret',
      async run() {
        const { status, body } = await inProduction().rotate()
        expectSame('status', status, 200)
        expectSame('secret', /^svc-sec-/.test(body.signing_secret.secret), true)
      },
    },
    {
      title: 'DELETE /v1/delete erases',
      async run() {
        const { status, body } = await inProduction().erase('ada')
        expectSame('status', `${status} ${body.status}`, '200 erased')
      },
    },
    {
      title: 'doctor finds nothing broken, and the kernels built',
      async run() {
        const { ok, findings } = await command('doctor')
        const kernels = findings.find(({ check }: { check: string }) => check === 'native kernels')
        expectSame('findings', `${ok} ${kernels.detail}`, 'true built')
      },
    },
    {
      title: 'compare tells two people apart',
      async run() {
        const path = (name: string) => join(running().photos, name)
        const same = await command('compare', path('ada.jpg'), path('ada-today.jpg'))
        const other = await command('compare', path('ada.jpg'), path('grace.jpg'))
        expectSame('verdicts', [same.same, other.same].join(), 'true,false')
      },
    },
    {
      title: 'closed databases are collected while nothing runs',
      async run() {
        const script = join(place.checkout, 'test', 'node-versions', 'idle-collection.mjs')
        await promisify(execFile)(join(place.bin, 'node'), [script], { cwd: place.checkout, env })
      },
    },
    {
      title: 'SIGTERM ends it well',
      async run() {
        const { child } = running()
        child.kill('SIGTERM')
        const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
        expectSame('exit code', code, 0)
      },
    },
  ]
}

/** No settings of the caller, and `node` from the place: npm, the compilers and the service run with it. */
function environmentOf({ bin, dataDir }: Place): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !/^(COUNTERSIGN_|npm_)/i.test(name))
  return {
    ...Object.fromEntries(inherited),
    PATH: [bin, process.env.PATH].join(delimiter),
    COUNTERSIGN_DATA_DIR: dataDir,
    COUNTERSIGN_PRODUCTION_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_SANDBOX_LISTEN: '127.0.0.1:0',
    COUNTERSIGN_ADMIN_LISTEN: '127.0.0.1:0',
  }
}

async function start({ checkout, bin }: Place, env: NodeJS.ProcessEnv): Promise<Running> {
  // Started like `npm start`, but without npm, which would not pass a signal on.
  const bootstrap = join(checkout, 'scripts', 'bootstrap.mjs')
  const child = spawn(join(bin, 'node'), [bootstrap, 'serve', '--demo', '--json'], { cwd: checkout, env })
  process.once('exit', () => child.kill('SIGTERM'))
  child.stdout.resume()
  let told = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    told += text
    process.stderr.write(text)
  })
  const ready = /^\{.*"admin":"http.*\}$/m
  const signal = AbortSignal.timeout(START_TIMEOUT_MS)
  // Registered once for all rounds: a promise that loses a race keeps its listeners.
  const ended = once(child, 'exit', { signal })
  try {
    while (!ready.test(told)) {
      if (child.exitCode !== null) throw new Error(`it ended with ${child.exitCode}`)
      await Promise.race([once(child.stderr, 'data', { signal }), ended])
    }
  } catch (error) {
    child.kill('SIGTERM')
    throw signal.aborted ? new Error(`it does not serve after ${START_TIMEOUT_MS / 60_000} minutes`) : error
  }
  const { production, sandbox, demo } = JSON.parse(ready.exec(told)![0])
  return { child, production, sandbox, sandboxKey: demo.sandbox_key, photos: demo.photos }
}

function expectSame(what: string, found: unknown, expected: unknown): void {
  if (found !== expected) throw new Error(`${what}: ${found} instead of ${expected}`)
}
