/** Public types of the engine: options, results and limits. */
import type { ModelPack } from '../../models/pack/model-pack.js'
import type { QualityBounds } from '../../models/pack/quality-schema.js'
import type { FaceSample, Liveness, Look, ProviderStatus, Quality, StageTimings } from './measurements.js'
import type { DecodingBudget } from './pipeline/decode/decoding-budget.js'

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

/** Options of any call. */
export interface CallOptions {
  /** Absolute time in milliseconds on `performance.now()`'s axis after which the result is useless. */
  deadlineMs?: number
  /**
   * Aborting drops the call from the queue, with all its tasks that no worker has yet; a running task ends with its
   * next stage.
   */
  signal?: AbortSignal
  /** Scheduling class of the call. Default: an unnamed flow of weight 1 in production. */
  schedulingClass?: SchedulingClass
  /**
   * True for a call of which no caller waits. It runs only while fewer than half of the workers have other calls, never waits for
   * a place, and gives its worker up when others need it; both as `overloaded`. A crash does not make it run again. Default false.
   */
  isSpare?: boolean | undefined
}

/** Bounds that hold in a call instead of those of the engine and of the pack that decides. */
export interface OtherBounds {
  /** Minimum width of the face box between its outer edges, in pixels. Default: that of the engine's limits. */
  minFacePx?: number
  /** Bounds at verify, which replace those of the pack end by end. Default: none. */
  quality?: QualityBounds
}

/** Which packs look at the images of a call. */
export interface PackChoice {
  /** Model id of the pack that decides: its bounds, liveness, thresholds and scores count. Default: the primary pack. */
  decideBy?: string | undefined
  /**
   * Model ids of packs that follow: each adds its embedding of the face that was decided about, and refuses nothing. A pack
   * that is not loaded gives null. Default: none.
   */
  alsoEmbed?: readonly string[] | undefined
}

export interface EnrolOptions extends CallOptions, PackChoice {
  /** Reports images that are too poor to enroll with instead of refusing them. Default false. */
  assessOnly?: boolean
}

/** Scheduling class of a call: its flow, priority and weight in the queue. */
export interface SchedulingClass {
  /** Name of the flow: calls of one flow share one part of the engine. */
  flow: string
  /** Waiting calls of production are served before any of the sandbox. */
  priority: 'production' | 'sandbox'
  /** Relative part of the engine that the flow gets among the flows of its priority; above 0. */
  weight: number
}

/** An embedding and its weight in a mean. */
export interface WeightedEmbedding {
  embedding: Float32Array
  weight: number
}

export interface EnrolResult {
  /**
   * [dimensions] float32: the samples' embeddings averaged with quality as weight, then normalized if the pack says
   * so.
   */
  reference: Float32Array
  /** Weight of the reference where further embeddings are fused with it. */
  weight: number
  /**
   * References by the packs that follow, by model id. Null where the pack gives no embedding of one of the images, or takes
   * them for different people: such a reference would be made of less than the person was enrolled with.
   */
  others: Record<string, WeightedEmbedding | null>
  /** Quality of the best sample. */
  quality: Quality
  /** The lowest liveness of all samples. */
  liveness: Liveness
  samples: FaceSample[]
  timingsMs: StageTimings
}

export interface VerifyResult {
  /** Similarity, higher is more alike: cosine in -1..1, or 1 - d/2 for Euclidean packs. */
  score: number
  /** The compared sample, chosen only by its quality. Its liveness is the lowest of all samples. */
  sample: FaceSample
  /** One sample for every usable image. */
  samples: FaceSample[]
  timingsMs: StageTimings
}

/** Limits of a small frame instead of those of photos. */
export type FrameLimits = Pick<ImageLimits, 'maxPixels' | 'minFacePx'>

/** Measurements of small frames, and the bounds that hold for the verdict. */
export interface Glance {
  /** One measurement a frame, in order. */
  looks: Look[]
  /** Mean gray level of the whole first frame, 0 to 255, or null where it shows a face. */
  luminance: number | null
  /** The pack that decides. */
  pack: ModelPack
  /** Minimum width of the face in a photo, in pixels. */
  minFacePx: number
}

export interface EngineHealth {
  status: 'ok' | 'degraded'
  /** Live and warmed-up workers, and the number configured. */
  workers: { ready: number; configured: number }
  /** True when there are workers and none of them has answered for four seconds. */
  isSilent: boolean
  /**
   * Number of waiting calls (including calls of which some tasks run already), of tasks that workers hold, and of
   * calls that may wait.
   */
  queue: { waiting: number; running: number; limit: number }
  provider: ProviderStatus
  /** True when the processor serves because an accelerator failed while it served; `provider` has the reason. */
  isAcceleratorLost: boolean
  /** Model id of the primary pack. */
  model: string
  /** Model ids of the packs that may follow. */
  following: string[]
  /** Process id of the engine process; undefined while there is none. */
  processId: number | undefined
}

export type FaceChoice = 'largest' | 'centre'

export interface ImageLimits {
  /** Maximum pixels of an image, checked on the header before pixels are decoded. Default 25,000,000. */
  maxPixels: number
  /** Maximum pixels of a frame of a series; `maxPixels` holds as well. Default: no other limit. */
  maxFramePixels?: number
  /** Minimum length of the shorter side, in pixels. Default 64. */
  minSidePx: number
  /** Minimum width of the face box between its outer edges, in pixels. Default 80. */
  minFacePx: number
  /**
   * A second face of at least this fraction of the largest face's width is refused as `multiple_faces`. Default 0.5.
   */
  secondFaceRatio: number
  /**
   * Rule that chooses among several faces. `largest` is the default; `centre`, for collections whose pictures are
   * cropped around a person, takes the face nearest the middle.
   */
  face?: FaceChoice
  /** Work that decoding a picture may cost, where it differs from `DECODING_BUDGET`. */
  decoding?: Partial<DecodingBudget>
  /** Takes faces that are not upright, to measure them. Default false. */
  acceptTurned?: boolean
}

export const INCIDENT_KINDS = [
  'engine_process_lost',
  'worker_lost',
  'worker_load_failed',
  'worker_garbled',
  'task_stuck',
  'engine_hung',
  'task_failed',
  'following_pack_failed',
  'accelerator_lost',
  'accelerator_hung',
] as const

export interface EngineIncident {
  kind: (typeof INCIDENT_KINDS)[number]
  error: unknown
}

export interface EngineOptions {
  /** Folder that contains pack.json of the primary pack, which decides unless a call names another. */
  packDir: string
  /** Folders of packs that may follow, or decide for a call that names them. Default: none. */
  followingPackDirs?: readonly string[]
  /** Number of worker threads, each with one inference thread. */
  workers: number
  /**
   * Maximum number of tasks that a worker holds at once, default 4: pictures are decoded meanwhile, and faces
   * embedded in batches.
   */
  tasksPerWorker?: number
  /** Execution providers in order of preference; `cpu` is always the last resort. */
  executionProviders: string[]
  limits: ImageLimits
  /**
   * Maximum number of calls that wait for a worker. Beyond it, the newest call of the flow that holds most for its
   * weight is refused as `overloaded`.
   */
  queueLimit: number
  /** Lets `Engine.injectFault` break workers on purpose; only for tests. Default false. */
  faultInjection?: boolean
  /** Milliseconds between two pings of each worker. Default 1,000. */
  pingIntervalMs?: number
  /** Aborted when the start is abandoned: its workers then end at once. */
  signal?: AbortSignal | undefined
  /** Called on worker deaths and late errors, for log and metrics. */
  onIncident?: (incident: EngineIncident) => void
}
