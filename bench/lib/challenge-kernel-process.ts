/**
 * The least work that a film needs, on one thread of bare kernels: decodes its frames, finds the face and its points
 * in each, and embeds the key frames. Unit: milliseconds per film.
 */

import { decodeImage } from '../../src/biometrics/pipeline/decode/decode.js'
import { configureDecoders } from '../../src/biometrics/pipeline/decode/decode-pixels.js'
import { ImagePyramid } from '../../src/biometrics/pipeline/decode/image-pyramid.js'
import { chooseFace } from '../../src/biometrics/pipeline/judge/face-policy.js'
import { FaceAligner } from '../../src/biometrics/pipeline/networks/align.js'
import { FaceDetector } from '../../src/biometrics/pipeline/networks/detect.js'
import { FaceEmbedder } from '../../src/biometrics/pipeline/networks/embed.js'
import { LandmarkFinder } from '../../src/biometrics/pipeline/networks/landmarks.js'
import { loadNetwork } from '../../src/biometrics/pipeline/networks/network.js'
import { StageClock } from '../../src/biometrics/pipeline/stage-clock.js'
import type { ChallengeKernelOrder, ChallengeKernels } from './challenge-orders.js'
import { serveOrders } from './helper-process.js'

const WARM_UP_FILMS = 2

async function perform({
  pack,
  provider,
  limits,
  frames,
  embeddings,
  seconds,
}: ChallengeKernelOrder): Promise<ChallengeKernels> {
  configureDecoders()
  const { detector, landmarks, embedder } = pack.manifest
  const faceDetector = new FaceDetector(await loadNetwork(pack, detector, provider), detector)
  const finder = landmarks && new LandmarkFinder(await loadNetwork(pack, landmarks, provider), landmarks)
  const aligner = new FaceAligner(embedder)
  const faceEmbedder = new FaceEmbedder(await loadNetwork(pack, embedder, provider), embedder)

  const film = async () => {
    const clock = { decodeMs: 0, findMs: 0, embedMs: 0 }
    let at = performance.now()
    const charge = (stage: keyof typeof clock) => {
      const now = performance.now()
      clock[stage] += now - at
      at = now
    }
    const chips: Float32Array[] = []
    for (const frame of frames) {
      const { pixels, sourceScale } = await decodeImage(frame, limits)
      charge('decodeMs')
      const pyramid = new ImagePyramid(pixels)
      const { width, height } = pixels
      const found = await faceDetector.detect(pyramid)
      const { box, points } = chooseFace(found, { width, height, sourceScale }, limits).face
      const all = finder ? await finder.find(pyramid, box) : points!
      charge('findMs')
      if (chips.length < embeddings) chips.push(aligner.align(pyramid, all).slice())
      pyramid.release()
      charge('embedMs')
    }
    const waiting: Array<Promise<unknown>> = []
    for (const chip of chips) {
      if (faceEmbedder.isFull) await faceEmbedder.run()
      waiting.push(faceEmbedder.add(chip, new StageClock()))
    }
    await faceEmbedder.run()
    await Promise.all(waiting)
    charge('embedMs')
    return clock
  }

  for (let i = 0; i < WARM_UP_FILMS; i++) await film()
  const films: ChallengeKernels = { decodeMs: [], findMs: [], embedMs: [] }
  const endMs = performance.now() + seconds * 1000
  do {
    const { decodeMs, findMs, embedMs } = await film()
    films.decodeMs.push(decodeMs)
    films.findMs.push(findMs)
    films.embedMs.push(embedMs)
  } while (performance.now() < endMs)
  return films
}

serveOrders(perform)
