/**
 * @vladmandic/human on tfjs-wasm, configured as its face identification demo, without the features that the others
 * lack.
 */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { basename, join } from 'node:path'
import { closedLoop, readSetup, scorePairs, serveOrders } from './serve-orders.mjs'
import { decode, describeWasm, packageFolder, startWasm, versionOf, wasmFolder } from './tfjs-wasm.mjs'

const require = createRequire(import.meta.url)
await startWasm()
const { Human } = require(`${packageFolder('@vladmandic/human')}dist/human.node-wasm.js`)
const models = `${packageFolder('@vladmandic/human')}models`

// TensorFlow.js without tfjs-node loads models only over HTTP.
const files = createServer(async (request, response) => {
  const bytes = await readFile(join(models, basename(request.url))).catch(() => null)
  response.writeHead(bytes ? 200 : 404).end(bytes)
})
await new Promise((resolve) => files.listen(0, '127.0.0.1', resolve))

const human = new Human({
  debug: false,
  backend: 'wasm',
  wasmPath: wasmFolder(),
  modelBasePath: `http://127.0.0.1:${files.address().port}/`,
  warmup: 'none',
  // Every picture is a new one: results of the last one must not be reused.
  cacheSensitivity: 0,
  skipAllowed: false,
  // Equalization needs a canvas, and is a choice of the demo, not of the library.
  filter: { enabled: false },
  face: {
    enabled: true,
    detector: { rotation: true, maxDetected: 10, skipFrames: 0, skipTime: 0 },
    mesh: { enabled: true },
    description: { enabled: true, skipFrames: 0, skipTime: 0 },
    iris: { enabled: false },
    emotion: { enabled: false },
    antispoof: { enabled: false },
    liveness: { enabled: false },
  },
  body: { enabled: false },
  hand: { enabled: false },
  object: { enabled: false },
  segmentation: { enabled: false },
  gesture: { enabled: false },
})
await human.load()
files.close()
files.closeAllConnections()

/** Values of the demo, for the faceres network. */
const MATCH = { order: 2, multiplier: 25, min: 0.2, max: 0.8 }

const { images, enrolImage } = await readSetup()
const probes = await Promise.all(images.map((file) => readFile(file)))

/** Returns the largest face's embedding, or null without one. */
async function describe(bytes) {
  const tensor = await decode(bytes)
  try {
    const { face, error } = await human.detect(tensor)
    if (error) throw new Error(error)
    const area = ({ box: [, , width, height] }) => width * height
    return face.sort((a, b) => area(b) - area(a))[0]?.embedding ?? null
  } finally {
    tensor.dispose()
  }
}

const reference = await describe(await readFile(enrolImage))
if (!reference) throw new Error('no face was found in the enrolment picture')

async function verify(turn) {
  const embedding = await describe(probes[turn % probes.length])
  if (!embedding) throw new Error('no face was found in a picture')
  return human.match.similarity(embedding, reference, MATCH)
}

/** The library's similarity is clipped to 0..1 and rounded; an error rate needs the unrounded distance. */
const score = (a, b) => -human.match.distance(a, b, MATCH)

const version = await versionOf('@vladmandic/human')
await serveOrders({ version, ...(await describeWasm()) }, (order) =>
  order.type === 'evaluate'
    ? scorePairs(order, async (file) => describe(await readFile(file)), score)
    : closedLoop(verify, order, order.firstTurn),
)
