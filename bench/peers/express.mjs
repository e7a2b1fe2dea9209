/** The plain Express service, started as a process of its own and driven over HTTP. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { LeanClient } from '../../dist/bench/lib/lean-client.js'
import { loadRecognizer } from './naive-recognition.mjs'
import { closedLoop, readSetup, scorePairs, serveOrders } from './serve-orders.mjs'

const require = createRequire(import.meta.url)
const { images, enrolImage, packDir } = await readSetup()

const service = spawn(
  process.execPath,
  [fileURLToPath(new URL('./express-service.mjs', import.meta.url)), packDir],
  { stdio: ['pipe', 'pipe', 'inherit'] },
)
const [line] = await Promise.race([
  once(createInterface({ input: service.stdout }), 'line'),
  once(service, 'exit').then(([code]) => {
    throw new Error(`the service did not start (${code})`)
  }),
])
service.on('exit', (code) => process.exit(code ?? 1))

const origin = `http://127.0.0.1:${JSON.parse(line).port}`
const JSON_HEADERS = 'Content-Type: application/json\r\n'
const bodyOf = (bytes) => Buffer.from(JSON.stringify({ user: 'someone', image: bytes.toString('base64') }))

async function post(client, path, body, expected) {
  const answer = await client.send('POST', path, JSON_HEADERS, [body])
  if (answer.status !== expected) throw new Error(`${path} answered ${answer.status}: ${answer.body}`)
}

const enroller = new LeanClient(origin)
await post(enroller, '/enroll', bodyOf(await readFile(enrolImage)), 201)
enroller.close()
const bodies = await Promise.all(images.map(async (file) => bodyOf(await readFile(file))))

async function loop({ callers, ...order }) {
  // The server closes connections that are idle between rounds.
  const client = new LeanClient(origin)
  const rounds = await Promise.all(
    Array.from({ length: callers }, (_, caller) =>
      closedLoop((turn) => post(client, '/verify', bodies[turn % bodies.length], 200), order, caller),
    ),
  ).finally(() => client.close())
  return {
    latenciesMs: rounds.flatMap(({ latenciesMs }) => latenciesMs),
    doneAtMs: rounds.flatMap(({ doneAtMs }) => doneAtMs),
  }
}

async function evaluate(order) {
  const { embed, score } = await loadRecognizer(packDir)
  return scorePairs(order, async (file) => embed(await readFile(file)), score)
}

const version = (name) => require(`./node_modules/${name}/package.json`).version
await serveOrders({ version: version('express'), onnxruntime: version('onnxruntime-node') }, (order) =>
  order.type === 'evaluate' ? evaluate(order) : loop(order),
)
