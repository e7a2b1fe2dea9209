/** One thread of the bare kernel loop: the engine's own pipeline, image after image, with nothing around it. */
import { parentPort, workerData } from 'node:worker_threads'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { type KernelRound, type KernelSetup, monotonicMs } from './kernel-orders.js'

export interface LoopOrder {
  picturesAtOnce: number
  countFromMs: number
  endMs: number
}

const { pack, provider, limits, enrolImage, images, stopFlag, thread } = workerData as KernelSetup & {
  /** [1] int32 shared with the process's main thread: 1 ends the loop before its time. */
  stopFlag: Int32Array<SharedArrayBuffer>
  thread: number
}

const pipeline = await FacePipeline.load(pack, { provider, limits })
const { embedding: reference } = await pipeline.analyse(enrolImage)

/** Threads start at different images, so that they do not work in step. */
let turn = thread

async function loop({ countFromMs, endMs }: LoopOrder, round: KernelRound): Promise<void> {
  for (let beganMs = monotonicMs(); beganMs < endMs && Atomics.load(stopFlag, 0) === 0; ) {
    const image = images[turn++ % images.length]!
    const sample = await pipeline.analyse(image)
    scoreOf(pack, sample.embedding, reference)
    const doneMs = monotonicMs()
    if (beganMs >= countFromMs) round.latenciesMs.push(doneMs - beganMs)
    if (doneMs >= countFromMs && doneMs < endMs) round.doneAtMs.push(doneMs)
    beganMs = doneMs
  }
}

parentPort!.on('message', (order: LoopOrder) => {
  const round: KernelRound = { latenciesMs: [], doneAtMs: [] }
  const loops = Array.from({ length: order.picturesAtOnce }, () => loop(order, round))
  void Promise.all(loops).then(() => parentPort!.postMessage(round))
})
parentPort!.postMessage('ready')
