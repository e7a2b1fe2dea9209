/** @vladmandic/face-api on tfjs-wasm: tiny face detector, 68 landmarks, recognition, as in its quick start. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { closedLoop, readSetup, scorePairs, serveOrders } from './serve-orders.mjs'
import { decode, describeWasm, packageFolder, startWasm, versionOf } from './tfjs-wasm.mjs'

const require = createRequire(import.meta.url)
await startWasm()
const faceapi = require('@vladmandic/face-api/dist/face-api.node-wasm.js')
const models = `${packageFolder('@vladmandic/face-api')}model`
await faceapi.nets.tinyFaceDetector.loadFromDisk(models)
await faceapi.nets.faceLandmark68Net.loadFromDisk(models)
await faceapi.nets.faceRecognitionNet.loadFromDisk(models)

const { images, enrolImage } = await readSetup()
const probes = await Promise.all(images.map((file) => readFile(file)))
/**
 * Input size in pixels: at its default of 416 the detector misses faces as close as these; 320 finds them and is
 * faster.
 */
const INPUT_SIZE = 320
const options = () => new faceapi.TinyFaceDetectorOptions({ inputSize: INPUT_SIZE })

async function describeSingle(bytes) {
  const tensor = await decode(bytes)
  try {
    const found = await faceapi.detectSingleFace(tensor, options()).withFaceLandmarks().withFaceDescriptor()
    return found?.descriptor ?? null
  } finally {
    tensor.dispose()
  }
}

async function describeLargest(file) {
  const tensor = await decode(await readFile(file))
  try {
    const found = await faceapi.detectAllFaces(tensor, options()).withFaceLandmarks().withFaceDescriptors()
    const area = ({ detection }) => detection.box.area
    return found.sort((a, b) => area(b) - area(a))[0]?.descriptor ?? null
  } finally {
    tensor.dispose()
  }
}

const score = (a, b) => 1 - faceapi.euclideanDistance(a, b)
const reference = await describeSingle(await readFile(enrolImage))
if (!reference) throw new Error('no face was found in the enrolment picture')

async function verify(turn) {
  const descriptor = await describeSingle(probes[turn % probes.length])
  if (!descriptor) throw new Error('no face was found in a picture')
  return score(descriptor, reference)
}

const version = await versionOf('@vladmandic/face-api')
await serveOrders({ version, detector_input_px: INPUT_SIZE, ...(await describeWasm()) }, (order) =>
  order.type === 'evaluate'
    ? scorePairs(order, describeLargest, score)
    : closedLoop(verify, order, order.firstTurn),
)
