/**
 * Checks that the graphs of a pack (8 bits, float32, an accelerator) give the same scores, as one calibration for all
 * of them requires.
 */
import { hasByteDotProducts } from '../../models/pack/cpu-features.js'
import { hasEightBitForm, type Precision, withPrecision } from '../../models/pack/graphs.js'
import { type ModelPack, thresholdForFmr } from '../../models/pack/model-pack.js'
import { LaneClient } from '../../src/biometrics/accelerator/lane-client.js'
import { LaneHost } from '../../src/biometrics/accelerator/lane-host.js'
import { FacePipeline } from '../../src/biometrics/pipeline/face-pipeline.js'
import { scoreOf } from '../../src/biometrics/pipeline/judge/match.js'
import { BiometricError, type ImageLimits } from '../../src/biometrics/types.js'

export interface AgreementOrder {
  pack: ModelPack
  /** Execution providers besides the processor. */
  accelerators: readonly string[]
  photos: readonly Uint8Array[]
  /** False match rate that the service is configured for. */
  fmr: number
  limits: ImageLimits
}

export interface GraphAgreement {
  provider: string
  precision: Precision
  /** Reason for which the graph does not run on this machine; null if it does, and the other values are valid. */
  unavailable: string | null
  /** Largest difference of any score; null if there was no score to compare. */
  max_score_difference: number | null
  /** Number of photos whose face only one of the two graphs uses. */
  photos_apart: number
  /** True if the largest difference is within the tolerance; null if it is unknown. */
  agrees: boolean | null
}

export interface AgreementReport {
  /** The graph with which every other graph is compared. */
  reference: { provider: 'cpu'; precision: 'float32' }
  photos: number
  /** Scores of each pair of photos whose face the reference uses. */
  pairs: number
  /** Largest accepted difference of a score. */
  bound: number
  graphs: GraphAgreement[]
}

/** Tolerance if a calibration has too few points to derive one. */
const DEFAULT_BOUND = 0.01

/**
 * Difference between the thresholds for the rate and for twice the rate: even if every impostor scored higher by it,
 * at most twice as many would match as the rate says.
 */
export function agreementBound(pack: ModelPack, fmr: number): number {
  const attained = thresholdForFmr(pack, fmr)
  const step = attained.threshold - thresholdForFmr(pack, Math.min(1, 2 * attained.fmr)).threshold
  return step > 0 ? step : DEFAULT_BOUND
}

/**
 * Blocks the calling thread for most of the time: the networks run in this process.
 * @throws ModelPackError pack_file_missing, pack_file_mismatch
 */
export async function measureAgreement(order: AgreementOrder): Promise<AgreementReport> {
  const { pack, accelerators, photos, fmr } = order
  const bound = agreementBound(pack, fmr)
  const expected = await embed(order, 'cpu', 'float32')
  const graphs: GraphAgreement[] = []
  const add = async (provider: string, precision: Precision) => {
    const form = { provider, precision }
    try {
      graphs.push({
        ...form,
        unavailable: null,
        ...compare(pack, expected, await embed(order, provider, precision), bound),
      })
    } catch (error) {
      // On the processor every graph must run; an accelerator may be missing on this machine.
      if (provider === 'cpu') throw error
      const unavailable = String((error as Error).message).split('\n', 1)[0]!
      graphs.push({ ...form, unavailable, max_score_difference: null, photos_apart: 0, agrees: null })
    }
  }
  if (hasByteDotProducts && hasEightBitForm(pack)) await add('cpu', '8-bit')
  for (const provider of accelerators) await add(provider, 'float32')
  const used = expected.filter((embedding) => embedding !== null).length
  return {
    reference: { provider: 'cpu', precision: 'float32' },
    photos: photos.length,
    pairs: (used * (used - 1)) / 2,
    bound,
    graphs,
  }
}

type Embeddings = Array<Float32Array | null>

async function embed(
  { pack, photos, limits }: AgreementOrder,
  provider: string,
  precision: Precision,
): Promise<Embeddings> {
  // Without the check vector of the calibration: what a graph computes otherwise is reported, not refused.
  const { calibration: _, ...chosen } = withPrecision(pack, precision)
  if (provider !== 'cpu') return embedInLane(chosen, provider, photos, limits)
  const pipeline = await FacePipeline.load(chosen, { provider, limits })
  try {
    const embeddings: Embeddings = []
    for (const photo of photos) embeddings.push(await embedOne(pipeline, photo))
    return embeddings
  } finally {
    await pipeline.release()
  }
}

/** Number of pipelines that use the lane at once, so that faces come in batches, as they do in a service. */
const PIPELINES = 4

/** Embeds the photos on an accelerator as a service does: in the lane that owns its sessions. */
async function embedInLane(
  pack: ModelPack,
  provider: string,
  photos: readonly Uint8Array[],
  limits: ImageLimits,
): Promise<Embeddings> {
  let lost: string | null = null
  let end: (reason: Error) => void = () => {}
  const ended = new Promise<never>((_, reject) => {
    end = reject
  })
  const lane = await LaneHost.start({
    packs: [pack],
    providers: [provider],
    limits,
    processorThreads: 1,
    onLost: (reason) => {
      lost = reason
    },
    onEnd: ({ reason }) => end(new Error(reason)),
  })
  if ('unavailable' in lane) throw new Error(lane.unavailable.fallbacks[0]!.reason)
  const clients = Array.from({ length: PIPELINES }, () => new LaneClient(lane.connect()))
  const embedShare = async ({ open }: LaneClient, share: number) => {
    const pipeline = await FacePipeline.load(pack, { provider, limits, open })
    const own: Embeddings = []
    for (let i = share; i < photos.length; i += PIPELINES) own.push(await embedOne(pipeline, photos[i]!))
    return own
  }
  const shares = await Promise.race([Promise.all(clients.map(embedShare)), ended])
  for (const client of clients) client.close()
  await lane.close()
  // The processor has done the rest: its scores say nothing of the accelerator.
  if (lost) throw new Error(lost)
  return photos.map((_, i) => shares[i % PIPELINES]![Math.floor(i / PIPELINES)]!)
}

async function embedOne(pipeline: FacePipeline, photo: Uint8Array): Promise<Float32Array | null> {
  try {
    return (await pipeline.analyse(photo)).embedding
  } catch (error) {
    if (error instanceof BiometricError) return null
    throw error
  }
}

/**
 * Scores of each pair by this graph, and with one photo of each graph, as after a change of machine: references stay.
 */
function compare(
  pack: ModelPack,
  expected: Embeddings,
  found: Embeddings,
  bound: number,
): Pick<GraphAgreement, 'max_score_difference' | 'photos_apart' | 'agrees'> {
  let [max, photosApart] = [-1, 0]
  for (const [i, own] of found.entries()) {
    const other = expected[i]!
    if ((own === null) !== (other === null)) photosApart++
    if (!own || !other) continue
    for (let j = 0; j < expected.length; j++) {
      const [ownPartner, partner] = [found[j], expected[j]]
      if (j === i || !ownPartner || !partner) continue
      const score = scoreOf(pack, other, partner)
      const differences = [scoreOf(pack, own, ownPartner) - score, scoreOf(pack, own, partner) - score]
      max = Math.max(max, ...differences.map(Math.abs))
    }
  }
  const difference = max < 0 ? null : max
  return {
    max_score_difference: difference,
    photos_apart: photosApart,
    agrees: photosApart === 0 && difference !== null && difference <= bound,
  }
}
