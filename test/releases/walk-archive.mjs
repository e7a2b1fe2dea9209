/**
 * Walks through an unpacked archive of a release, as its first user does, and prints what came out as JSON. It runs where there is no
 * network, and has no package of this checkout: only what Node brings.
 * usage: node walk-archive.mjs <link to the unpacked folder> <empty folder>
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const [link, home] = process.argv.slice(2)
const PATIENCE_MS = 60_000
const ANYWHERE = '127.0.0.1:0'
const env = {
  ...{ PATH: process.env.WALK_PATH, HOME: home, npm_config_offline: 'true' },
  COUNTERSIGN_PRODUCTION_LISTEN: ANYWHERE,
  COUNTERSIGN_SANDBOX_LISTEN: ANYWHERE,
  COUNTERSIGN_ADMIN_LISTEN: ANYWHERE,
  COUNTERSIGN_CAPTURE_LISTEN: ANYWHERE,
  COUNTERSIGN_CAPTURE_URL: 'http://127.0.0.1:1',
}
const countersign = join(link, 'countersign')

const started = performance.now()
const child = spawn(countersign, ['serve', '--demo', '--json'], {
  cwd: home,
  env,
  stdio: ['ignore', 'ignore', 'pipe'],
})
process.once('exit', () => child.kill('SIGKILL'))
let said = ''
child.stderr.setEncoding('utf8').on('data', (text) => {
  said += text
})
const line = await until(() => {
  if (child.exitCode !== null) throw new Error(`serve ended with ${child.exitCode}: ${said}`)
  return /^\{.*"admin":"http.*\}$/m.exec(said)?.[0]
})
const { production, sandbox, admin, demo } = JSON.parse(line)
const readyMs = Math.round(performance.now() - started)

const photo = (name) => readFileSync(join(demo.photos, name)).toString('base64')
const action = { type: 'transfer', amount: '1250.00' }
const sandboxEnroll = await call(sandbox, demo.sandbox_key, 'enroll', {
  user_id: 'ada',
  image: photo('ada.jpg'),
})
const sandboxVerify = await call(sandbox, demo.sandbox_key, 'verify', {
  user_id: 'ada',
  image: photo('ada.jpg'),
  action,
})
const { production_key: key } = command('tenant', 'production-key', 'demo')
const images = ['ada.jpg', 'ada-2.jpg', 'ada-3.jpg'].map(photo)
const enroll = await call(production, key, 'enroll', { user_id: 'ada', images })
const same = await call(production, key, 'verify', { user_id: 'ada', image: photo('ada-today.jpg'), action })
const other = await call(production, key, 'verify', { user_id: 'ada', image: photo('grace.jpg'), action })
const { ok, findings } = command('doctor')
const pages = []
for (const path of ['/readyz', '/', '/docs/guides/production'])
  pages.push((await fetch(new URL(path, admin))).status)

// An upgrade switches the link while this version serves. The engine that replaces a lost one is still of this version.
rmSync(link)
symlinkSync(home, link)
const [engine] = childrenOf(child.pid)
process.kill(engine, 'SIGKILL')
await until(async () => {
  const { status } = await fetch(new URL('/readyz', admin))
  return status === 200 && childrenOf(child.pid).some((pid) => pid !== engine)
})
const again = await call(production, key, 'verify', { user_id: 'ada', image: photo('grace.jpg'), action })
child.kill('SIGTERM')
const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]

console.log(
  JSON.stringify({
    readyMs,
    calls: [sandboxEnroll, sandboxVerify, enroll, same, other, again],
    doctor: { ok, kernels: findings.find(({ check }) => check === 'native kernels').detail },
    pages,
    code,
  }),
)

async function call(base, key, path, body) {
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  const response = await fetch(`${base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { verdict, code } = await response.json()
  return `${path} ${response.status} ${verdict ?? code ?? ''}`.trim()
}

function command(...args) {
  const { stdout, stderr } = spawnSync(countersign, [...args, '--json'], {
    cwd: home,
    env: { ...env, COUNTERSIGN_ACCEPT_PACK: 'standard' },
    encoding: 'utf8',
  })
  try {
    return JSON.parse(stdout)
  } catch {
    throw new Error(`countersign ${args.join(' ')}: ${stdout}${stderr}`)
  }
}

function childrenOf(pid) {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').split(' '))
    .filter(Boolean)
    .map(Number)
}

async function until(ask) {
  const end = performance.now() + PATIENCE_MS
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    if (performance.now() > end) throw new Error(`It took over ${PATIENCE_MS / 1000} s: ${said}`)
    await sleep(50)
  }
}
