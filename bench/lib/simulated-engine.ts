/**
 * A simulated engine process: preloaded before the real one, it never lets that start. Its workers wait as long as a
 * picture would take, and report the one person that exists. Everything else of a verify is real, including the way
 * of the picture to the worker and of the measurements back.
 */
import { connect, type Socket } from 'node:net'
import type { ModelPack } from '../../models/pack/model-pack.js'
import { replayScore, thresholdForFmr } from '../../models/pack/model-pack.js'
import type {
  CancelMessage,
  HostSetup,
  PingMessage,
  TaskMessage,
  WorkerSetup,
} from '../../src/biometrics/channel/engine-protocol.js'
import { FrameReader, MAX_TASK_BYTES, writeFrame } from '../../src/biometrics/channel/frames.js'
import type { WorkerMessage, WorkerReply } from '../../src/biometrics/channel/worker-messages.js'
import type { FaceSample } from '../../src/biometrics/measurements.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'

/** Milliseconds per picture, read from the environment, which the engine process inherits from the service. */
export const ENGINE_MS_VARIABLE = 'BENCH_ENGINE_MS'

const MAX_SETUP_BYTES = 1024 * 1024
/** Default false match rate of the installation, to which thresholds refer unless configured otherwise. */
const FMR = 1e-4
const BISECTIONS = 30

/**
 * Returns embeddings of one person: two of them match, and are not so alike that they count as one capture sent
 * twice.
 */
class Person {
  private readonly noise: number

  constructor(private readonly pack: ModelPack) {
    const wanted = (thresholdForFmr(pack, FMR).threshold + replayScore(pack)) / 2
    let [least, most] = [0, 1]
    for (let i = 0; i < BISECTIONS; i++) {
      const middle = (least + most) / 2
      const isTooAlike = scoreOf(pack, this.embedding(middle), this.embedding(middle)) > wanted
      if (isTooAlike) least = middle
      else most = middle
    }
    this.noise = least
  }

  embedding(noise = this.noise): Float32Array {
    const { dimensions } = this.pack.manifest.embedder
    // A uniform number between -1 and 1 has a third of the variance that unit length needs.
    const scale = Math.sqrt(3 / dimensions)
    const vector = Float32Array.from(
      { length: dimensions },
      () => 1 / Math.sqrt(dimensions) + noise * scale * (2 * Math.random() - 1),
    )
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }

  sample(imageIndex: number): FaceSample {
    return {
      imageIndex,
      faces: { count: 1, isLargestCentral: true },
      box: { x: 220, y: 130, width: 200, height: 240 },
      landmarks: null,
      quality: {
        score: 0.9,
        faceWidthPx: 200,
        detection: 0.99,
        sharpness: 120,
        brightness: 120,
        contrast: 50,
        components: { sharpness: 120, luminance_mean: 120, luminance_variance: 2500 },
      },
      liveness: { checked: false, score: null, passed: null },
      embedding: this.embedding(),
    }
  }
}

/** One slot of a worker: takes picture after picture. */
class Worker {
  private readonly socket: Socket
  /** Counts from the time at which a timer was due, not from when it fired: lateness must not add up. */
  private freeAtMs = 0

  constructor(
    { socketPath }: WorkerSetup,
    private readonly person: Person,
    private readonly engineMs: number,
  ) {
    const reader = new FrameReader<TaskMessage | CancelMessage | PingMessage>(
      MAX_TASK_BYTES,
      ({ message, images }) => {
        if ('ping' in message) this.send({ kind: 'pong' })
        // A cancelled task is waited for, as a real one that has begun its last stage.
        else if (!('cancelled' in message)) this.take(message, images.length)
      },
    )
    this.socket = connect(socketPath)
      .on('connect', () => this.send({ kind: 'ready', provider: { active: 'simulated', fallbacks: [] } }))
      .on('data', (chunk) => reader.push(chunk))
      // The service has ended.
      .on('error', () => {})
  }

  private take({ id, task }: TaskMessage, pictures: number): void {
    const busyMs = pictures * this.engineMs
    this.freeAtMs = Math.max(this.freeAtMs, performance.now()) + busyMs
    setTimeout(
      () => this.send({ kind: 'reply', id, reply: this.reply(task.type, pictures, busyMs) }),
      this.freeAtMs - performance.now(),
    )
  }

  private reply(type: TaskMessage['task']['type'], pictures: number, busyMs: number): WorkerReply {
    if (type === 'inspect')
      return {
        ok: true,
        value: { format: 'jpeg', width: 640, height: 480 },
        timingsMs: { decode: busyMs },
      }
    if (type !== 'enrol' && type !== 'verify')
      return { ok: false, code: 'engine_unavailable', message: `The simulated engine knows no ${type}.` }
    const samples = Array.from({ length: pictures }, (_, index) => this.person.sample(index))
    return { ok: true, value: { samples }, timingsMs: { embed: busyMs } }
  }

  private send(message: WorkerMessage): void {
    if (!this.socket.destroyed) writeFrame(this.socket, message)
  }
}

/** Never returns: the module that would be loaded next is the real engine. */
async function standIn(engineMs: number): Promise<never> {
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => {})
  const setups = new FrameReader<HostSetup>(MAX_SETUP_BYTES, ({ message: { workers, worker } }) => {
    const person = new Person(worker.pack)
    for (let i = 0; i < workers; i++) new Worker(worker, person, engineMs)
  })
  process.stdin.on('data', (chunk) => setups.push(chunk)).once('close', () => process.exit())
  return new Promise(() => {})
}

if (/engine-host\.[jt]s$/.test(process.argv[1] ?? '')) await standIn(Number(process.env[ENGINE_MS_VARIABLE]))
