/**
 * The stages suite: duration of each separate part of a verify, in the workers and on the main thread. Unit:
 * milliseconds, mean and percentiles.
 */
import { createHash, randomBytes } from 'node:crypto'
import { Bench, type Task } from 'tinybench'
import { type ModelPack, replayScore } from '../models/pack/model-pack.js'
import type { NetworkFile } from '../models/pack/pack-schema.js'
import { loadConfig } from '../src/app/configuration.js'
import { openCore } from '../src/app/core.js'
import { engineOptions } from '../src/app/engine-options.js'
import { decodeImage } from '../src/biometrics/pipeline/decode/decode.js'
import { ImagePyramid } from '../src/biometrics/pipeline/decode/image-pyramid.js'
import { FacePipeline } from '../src/biometrics/pipeline/face-pipeline.js'
import { chooseFace } from '../src/biometrics/pipeline/judge/face-policy.js'
import { scoreOf } from '../src/biometrics/pipeline/judge/match.js'
import { measureChip } from '../src/biometrics/pipeline/judge/quality.js'
import { FaceAligner } from '../src/biometrics/pipeline/networks/align.js'
import { FaceDetector } from '../src/biometrics/pipeline/networks/detect.js'
import { FaceEmbedder } from '../src/biometrics/pipeline/networks/embed.js'
import { LandmarkFinder } from '../src/biometrics/pipeline/networks/landmarks.js'
import { LivenessChecker } from '../src/biometrics/pipeline/networks/liveness.js'
import { loadNetwork } from '../src/biometrics/pipeline/networks/network.js'
import { progressSteps } from '../src/cli/lib/progress.js'
import { canonicalJson } from '../src/contract/canonical-json.js'
import { signResponse } from '../src/crypto/response-signature.js'
import { actionHash, signVerification } from '../src/crypto/verification-jwt.js'
import { descriptionsWith } from '../src/features/feature-parts.js'
import { loadFeatures } from '../src/features/index.js'
import { inputParser } from '../src/http/bodies/json-body.js'
import { systemClock } from '../src/lib/clock.js'
import { TemplateVault } from '../src/users/template-vault.js'
import { StoredCaptures } from '../src/verification/capture/capture-memory.js'
import { decodeImages, type ImageInput } from '../src/verification/capture/images.js'
import { CLEAR } from '../src/verification/lockout/lockout.js'
import { describeSizes, takeCaptures } from './lib/captures.js'
import { onCleanUp } from './lib/clean-up.js'
import { SERVICE_ROOMS } from './lib/measured-code.js'
import {
  type LatencySummary,
  mean,
  round,
  shown,
  summariseLatency,
  TOO_FEW_SAMPLES,
} from './lib/statistics.js'
import { temporaryDir } from './lib/temporary-dir.js'
import type { Suite } from './suite.js'

/** Share of the measuring time for the engine's stages, which take longest. */
const ENGINE_SHARE = 0.65
/** Share of a stage's time that warms it up, unmeasured. */
const WARM_UP_SHARE = 0.2
const MIN_ITERATIONS = 10
/** Characters of a request body of the specification's largest photo: base64 has four characters for three bytes. */
const BODY_BYTES = 150_000
/** Maximum number of earlier captures that one replay check compares. */
const CAPTURES_KEPT = 64

type Work = () => unknown

/** The measured functions by name, in the order of a request. */
type Workbench = Array<[name: string, work: Work]>

interface Timing extends LatencySummary {
  /** Mean in milliseconds: unlike medians, means add up. */
  mean_ms: number

  /** Name for programs. */
  stage: string
  samples: number
}

export const stages: Suite = {
  name: 'stages',
  description: 'every stage of the engine and of the main thread, one at a time',
  measures: SERVICE_ROOMS,
  defaultSeconds: 30,
  async run({ pack, seconds }) {
    const { enrolImages, verifyImages: images } = await takeCaptures()
    const engineWork = await engineStages(pack, enrolImages[0]!, images)
    const mainWork = await mainThreadStages(pack, images[0]!)
    const progress = progressSteps('stages')
    const total = engineWork.length + mainWork.length
    let done = 0
    const announce = (name: string) => progress.update(done++, total, name)
    const engine = await time(engineWork, seconds * ENGINE_SHARE, announce)
    const main = await time(mainWork, seconds * (1 - ENGINE_SHARE), announce)
    progress.update(total, total, 'done')
    progress.stop()

    const toBars = (timings: Timing[]) =>
      timings.map(({ stage, p50_ms }) => ({ label: stage, value: p50_ms }))
    const medians = (timings: Timing[]) =>
      Object.fromEntries(timings.map(({ stage, p50_ms }) => [stage, p50_ms]))
    return {
      suite: 'stages',
      model: pack.modelId,
      seconds,
      summary: { engine_p50_ms: medians(engine), main_thread_p50_ms: medians(main) },
      tables: [
        { title: 'Engine, milliseconds on one thread', rows: toRows(engine) },
        { title: 'Main thread, milliseconds', rows: toRows(main) },
      ],
      charts: [
        { title: 'Engine, p50 on one thread', unit: 'ms', bars: toBars(engine) },
        { title: 'Main thread, p50', unit: 'ms', bars: toBars(main) },
      ],
      notes: [
        `Images, in turn: ${describeSizes(images)}. One stage after the other on one thread, each with its input ready.`,
        'Decoding runs on a thread of libuv; everything else on the thread that asks.',
        `The body is ${BODY_BYTES / 1000} kB of JSON; the replay check looks at ${CAPTURES_KEPT} captures, the most there can be, of which none fits.`,
        'The commit is what one verify writes: lockout state, capture and audit entry, with an fsync.',
        TOO_FEW_SAMPLES,
      ],
      details: { engine, main_thread: main },
      failures: [],
    }
  },
}

/** The timings as rows of a table, with its head. */
export function toRows(timings: readonly Timing[]): string[][] {
  return [
    ['stage', 'mean', 'p50', 'p95', 'p99', 'samples'],
    ...timings.map(({ stage, mean_ms, p50_ms, p95_ms, p99_ms, samples }) => [
      stage,
      ...[mean_ms, p50_ms, p95_ms, p99_ms].map((ms) => shown(ms, 4)),
      String(samples),
    ]),
  ]
}

export async function time(
  workbench: Workbench,
  seconds: number,
  announce: (name: string) => void,
): Promise<Timing[]> {
  const stageMs = (seconds * 1000) / workbench.length
  const warmupTime = stageMs * WARM_UP_SHARE
  const timings: Timing[] = []
  for (const [stage, work] of workbench) {
    announce(stage)
    // Each stage has a bench of its own, so that warming up and measuring follow each other directly.
    const bench = new Bench({
      time: stageMs - warmupTime,
      warmupTime,
      iterations: MIN_ITERATIONS,
      retainSamples: true,
      throws: true,
    })
    bench.add(stage, work)
    const [task] = await bench.run()
    const samples = samplesOf(task!)
    timings.push({
      stage,
      mean_ms: round(mean(samples), 4),
      ...summariseLatency(samples),
      samples: samples.length,
    })
  }
  return timings
}

/** Duration in milliseconds. */
function samplesOf({ name, result }: Task): readonly number[] {
  if (result.state !== 'completed' || !result.latency.samples) throw new Error(`${name} was not measured`)
  return result.latency.samples
}

async function engineStages(
  pack: ModelPack,
  enrolImage: Buffer,
  images: readonly Buffer[],
): Promise<Workbench> {
  const { limits, executionProviders } = engineOptions(loadConfig({}))
  const provider = executionProviders[0] ?? 'cpu'
  const { detector, landmarks, embedder, liveness } = pack.manifest
  const open = (file: NetworkFile) => loadNetwork(pack, file, provider)
  const pipeline = await FacePipeline.load(pack, { provider, limits })
  const faceDetector = new FaceDetector(await open(detector), detector)
  const finder = landmarks && new LandmarkFinder(await open(landmarks), landmarks)
  const aligner = new FaceAligner(embedder)
  const faceEmbedder = new FaceEmbedder(await open(embedder), embedder)
  const checker = liveness && new LivenessChecker(await Promise.all(liveness.networks.map(open)), liveness)

  const { embedding: reference } = await pipeline.analyse(enrolImage)
  // A detector may need one pass or two, depending on the picture: the stages go round several pictures.
  const prepare = async (image: Buffer) => {
    const { pixels, sourceScale } = await decodeImage(image, limits)
    const pyramid = new ImagePyramid(pixels)
    const { width, height } = pixels
    const faces = await faceDetector.detect(pyramid)
    const { box, points: found } = chooseFace(faces, { width, height, sourceScale }, limits).face
    const points = finder ? await finder.find(pyramid, box) : found!
    // The chip is copied: the aligner reuses its buffer.
    const chip = aligner.align(pyramid, points).slice()
    return { image, pixels, pyramid, box, points, chip, probe: await faceEmbedder.embed(chip) }
  }
  const prepared: Array<Awaited<ReturnType<typeof prepare>>> = []
  for (const image of images) prepared.push(await prepare(image))
  /** Goes round the pictures. */
  const each = (work: (input: (typeof prepared)[number]) => unknown): Work => {
    let turn = 0
    return () => work(prepared[turn++ % prepared.length]!)
  }

  return [
    ['decode', each(({ image }) => decodeImage(image, limits))],
    // Each run has a new pyramid: the levels that the detector requests are part of its cost.
    ['detect', each(({ pixels }) => faceDetector.detect(new ImagePyramid(pixels)))],
    ...optional('landmarks', finder && each(({ pyramid, box }) => finder.find(pyramid, box))),
    ['align', each(({ pyramid, points }) => aligner.align(pyramid, points))],
    ['quality', each(({ chip }) => measureChip(chip, embedder.input))],
    ...optional('liveness', checker && each(({ pyramid, box }) => checker.check(pyramid, box))),
    ['embed', each(({ chip }) => faceEmbedder.embed(chip))],
    ['match', each(({ probe }) => scoreOf(pack, probe, reference))],
    [
      'all of them',
      each(async ({ image }) => {
        const { embedding } = await pipeline.analyse(image)
        return scoreOf(pack, embedding, reference)
      }),
    ],
  ]
}

/** A stage that only some packs have. */
function optional(name: string, work: Work | undefined): Workbench {
  return work ? [[name, work]] : []
}

/** Uses the real store in a temporary folder: the measured code is the service's own, with its pragmas and keys. */
export async function mainThreadStages(pack: ModelPack, image: Buffer): Promise<Workbench> {
  const config = loadConfig({ COUNTERSIGN_DATA_DIR: await temporaryDir() })
  const { store, keys, tenancy, secrets, audit } = await openCore(config)
  onCleanUp(() => store.close())
  const { tenant, sandboxKey, signingSecret } = await tenancy.create('bench')
  const authorization = `Bearer ${sandboxKey}`

  const body = requestBody(BODY_BYTES)
  const parse = inputParser(descriptionsWith(await loadFeatures()).find(({ id }) => id === 'verify')!)
  const { dimensions } = pack.manifest.embedder
  const vault = new TemplateVault(keys, systemClock)
  const blindIndex = vault.blindIndex(tenant.id, 'production', 'user')
  const fresh = vault.create(tenant.id, 'production', blindIndex, 'user')
  const captures = new StoredCaptures({
    store,
    vault,
    clock: systemClock,
    isSameCapture: (_model, a, b) => scoreOf(pack, a, b) >= replayScore(pack),
  })
  const embedding = randomEmbedding(dimensions)
  const reference = await store.transaction('installation', async (tx) => {
    await tx.insertSubject(fresh.record)
    const made = await vault.putReference(tx, fresh, pack.modelId, {
      embedding,
      photoCount: 1,
      weight: 1,
      consent: null,
    })
    for (let i = 0; i < CAPTURES_KEPT; i++)
      await captures.remember(tx, fresh, {
        digests: [randomBytes(64)],
        faces: captures.facesOf(fresh, new Map([[0, randomEmbedding(dimensions)]])),
        model: pack.modelId,
      })
    return made
  })
  const other = vault.create(
    tenant.id,
    'production',
    vault.blindIndex(tenant.id, 'production', 'other'),
    'other',
  )
  await store.transaction('installation', (tx) => tx.insertSubject(other.record))

  const claims = verdictClaims(tenant.id, pack.modelId)
  const jwt = await signVerification(claims, signingSecret)
  const answer = JSON.stringify({ ...claims, jwt })
  const tokens = { timestamp: claims.iat, requestId: claims.txn, status: 200 }

  return [
    [
      'authenticate',
      async () => {
        const caller = await tenancy.authenticate(authorization, 'sandbox')
        return secrets.active(store.read, caller.tenant.id)
      },
    ],
    ['hash the body', () => createHash('sha256').update(body).digest()],
    ['parse the body', () => decodeImages(parse(body, 'application/json', '') as ImageInput)],
    ['find the user', () => vault.find(store.read, blindIndex, 'user')],
    ['open the reference', () => vault.openReference(fresh, reference)],
    ['seal a capture', () => vault.sealCapture(fresh, vault.captureOf(fresh, embedding), pack.modelId)],
    ['digest the image', () => vault.captureDigest(fresh, image)],
    [
      'replay check',
      async () => {
        const recollection = await captures.recall({ id: 'user', subject: fresh }, [image], dimensions)
        const { digests } = recollection
        const faces = captures.facesOf(fresh, new Map([[0, embedding]]))
        return captures.findReplay({ digests, faces, model: pack.modelId }, recollection)
      },
    ],
    ['hash the action', () => actionHash(canonicalJson(claims.action))],
    ['sign the JWT', () => signVerification(claims, signingSecret)],
    [
      'commit',
      () =>
        store.transaction('installation', async (tx) => {
          await tx.setLockout(other.record.id, CLEAR)
          await captures.remember(tx, other, {
            digests: [vault.captureDigest(other, image)],
            faces: captures.facesOf(other, new Map([[0, embedding]])),
            model: pack.modelId,
          })
          await audit.append(tx, tenant.id, {
            event: 'verify',
            actor: 'key',
            request_id: claims.txn,
            status: 200,
            subject: other.pseudonym,
            verdict: 'approved',
          })
        }),
    ],
    [
      'sign the response',
      () =>
        signResponse(
          { ...tokens, environment: 'sandbox', method: 'POST', target: '/v1/verify', body: answer },
          [signingSecret],
        ),
    ],
  ]
}

/** Body of a verify of `bytes` bytes. Its image is noise: no measured stage looks at pixels. */
function requestBody(bytes: number): Buffer {
  const fields = { user_id: 'user', action: { type: 'wire_transfer', amount: '1250.00' } }
  const room = bytes - JSON.stringify({ ...fields, image: '' }).length
  const image = randomBytes(Math.floor(room / 4) * 3).toString('base64')
  return Buffer.from(JSON.stringify({ ...fields, image }))
}

/** Random [dimensions] float32 of length 1; two of them are never alike. */
function randomEmbedding(dimensions: number): Float32Array {
  const values = Float32Array.from({ length: dimensions }, () => Math.random() - 0.5)
  const length = Math.hypot(...values)
  return values.map((value) => value / length)
}

function verdictClaims(tenantId: string, model: string) {
  const now = Math.floor(Date.now() / 1000)
  const action = { type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }
  return {
    iss: 'http://127.0.0.1:8080/v1',
    aud: tenantId,
    sub: 'user',
    iat: now,
    nbf: now,
    exp: now + 300,
    jti: 'ver_01890000000070008000000000000000',
    txn: '01890000-0000-7000-8000-000000000000',
    env: 'production' as const,
    verdict: 'approved' as const,
    score: round(Math.random(), 4),
    fmr: 1e-4,
    fmr_basis: 'measured' as const,
    model_grade: 'production' as const,
    action,
    action_hash: actionHash(canonicalJson(action)),
    amr: ['face'] as ['face'],
    acr: 'urn:countersign:acr:face',
    auth_time: now,
    model,
    liveness: { checked: false, passed: null, methods: [], score: null },
    replay: { suspected: false },
  }
}
