/** The vocabulary of the engine: what goes in, what comes out, and the ways in which an image can be unusable. */
import type { ChallengeFault, FrameNote } from './challenge/active-geometry.js'
import type { Step } from './challenge/steps.js'
import type {
  FaceSample,
  InspectedImage,
  Liveness,
  ProviderStatus,
  Quality,
  StageTimings,
} from './measurements.js'
import type { ComponentFinding } from './pipeline/quality-bounds.js'

export { BiometricError, type BiometricErrorCode } from './biometric-error.js'
export type {
  Box,
  FaceSample,
  FacesInImage,
  InspectedImage,
  Liveness,
  ProviderStatus,
  Quality,
  StageTimings,
} from './measurements.js'

/** Where the moment, not the image, decides. */
export interface CallOptions {
  /** Absolute time on `performance.now()`'s axis after which the result is of no use. */
  deadlineMs?: number
  /** Aborting drops the call from the queue, with all its tasks that no worker has yet; a running task ends with its next stage. */
  signal?: AbortSignal
  /** Who waits with whom where calls must wait. Without it the call is of a nameless flow of weight 1. */
  share?: FlowShare
}

export interface EnrolOptions extends CallOptions {
  /** Images that are too poor to enrol with are told of, not refused. Default false. */
  assessOnly?: boolean
}

/** Whose call it is, as far as the order of service goes. */
export interface FlowShare {
  /** Calls of one name share one part of the engine. */
  flow: string
  /** What waits of production is served before anything of the sandbox. */
  priority: 'production' | 'sandbox'
  /** Above 0: the part of the engine that the flow has beside others of its priority. */
  weight: number
}

export interface EnrolResult {
  /** [dimensions] float32: the samples' embeddings averaged with quality as weight, then normalised as the pack says. */
  reference: Float32Array
  /** Weight of the reference where further embeddings are fused with it. */
  weight: number
  /** The best sample's. */
  quality: Quality
  /** What each sample's quality comes to, held against the bounds of an enrolment. */
  findings: ComponentFinding[][]
  /** The weakest of all samples. */
  liveness: Liveness
  samples: FaceSample[]
  timingsMs: StageTimings
}

export interface VerifyResult {
  /** Similarity, higher is more alike: cosine in -1..1, or 1 - d/2 for Euclidean packs. */
  score: number
  /** The one that was compared, chosen by its quality alone. Its liveness is the weakest of all samples. */
  sample: FaceSample
  /** Of every usable image. */
  samples: FaceSample[]
  timingsMs: StageTimings
}

/** A series of frames, and what they are to show. */
export interface ChallengeFrames {
  /** One a frame, in order. */
  notes: readonly FrameNote[]
  steps: readonly Step[]
}

export interface ChallengeResult {
  /** Null where the frames show one head that did what was asked. */
  fault: ChallengeFault | null
  /** Of the liveness network, over several frames. */
  liveness: Liveness
  /** The frames that speak for the series, the one that was compared first; empty where the movements are not those asked for. */
  samples: Array<Pick<FaceSample, 'imageIndex' | 'embedding' | 'quality' | 'faces'>>
  /** As in `VerifyResult`; null without samples, or without a reference. */
  score: number | null
  timingsMs: StageTimings
}

/** A small frame of a person who is still finding the place, or moving. */
export interface GuideFrames {
  image: Uint8Array
  step: Step
  /** A look ahead of before, for a movement to be measured from. */
  frontal?: Uint8Array | undefined
}

export interface CompareResult {
  /** As in `VerifyResult`. */
  score: number
  /** The face of the first and of the second image. */
  samples: [FaceSample, FaceSample]
  timingsMs: StageTimings
}

export interface InspectResult {
  images: InspectedImage[]
  timingsMs: StageTimings
}

export interface EngineHealth {
  status: 'ok' | 'degraded'
  /** Live and warmed-up workers against the number configured. */
  workers: { ready: number; configured: number }
  /** Workers are there, and none of them has answered for four seconds. */
  isSilent: boolean
  /** Calls that wait, one whose tasks are partly handed over included; tasks that workers hold; calls that may wait. */
  queue: { waiting: number; running: number; limit: number }
  provider: ProviderStatus
  model: string
  /** Of the engine process; undefined while there is none. */
  processId: number | undefined
}

export type FaceChoice = 'largest' | 'centre'

export interface ImageLimits {
  /** Default 24_000_000. Checked on the header, before pixels are decoded. */
  maxPixels: number
  /** Largest frame of a challenge; `maxPixels` holds as well. Default: no other limit. */
  maxFramePixels?: number
  /** Shorter side, default 64 px. */
  minSidePx: number
  /** Width of the face box between its outer edges, default 80 px. */
  minFacePx: number
  /** A second face at least this fraction of the largest face's width makes `multiple_faces`; default 0.5. */
  secondFaceRatio: number
  /**
   * Which of several faces is meant. `centre`, for collections whose pictures are cropped around a person: the one nearest the
   * middle, whatever else is in the picture. Default `largest`.
   */
  face?: FaceChoice
}

export interface EngineIncident {
  kind:
    | 'engine_process_lost'
    | 'worker_lost'
    | 'worker_load_failed'
    | 'worker_garbled'
    | 'task_stuck'
    | 'engine_hung'
    | 'task_failed'
  error: unknown
}

export interface EngineOptions {
  /** Folder with pack.json. */
  packDir: string
  /** Worker threads, each with one inference thread. */
  workers: number
  /** Tasks that a worker may hold at once, default 4: pictures are decoded meanwhile, and faces embedded in batches. */
  tasksPerWorker?: number
  /** In order of preference; `cpu` is always the last resort. */
  executionProviders: string[]
  limits: ImageLimits
  /** Calls that may wait for a worker; beyond it, the newest of the flow that holds most for its weight is refused as `overloaded`. */
  queueLimit: number
  /** For tests alone: lets `Engine.injectFault` break workers on purpose. Default false. */
  faultInjection?: boolean
  /** Milliseconds between two signs of life that each worker is asked for. Default 1,000. */
  pingIntervalMs?: number
  /** Told of worker deaths and late errors; for log and metrics. */
  onIncident?: (incident: EngineIncident) => void
}
