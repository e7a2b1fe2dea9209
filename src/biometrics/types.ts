/** The vocabulary of the engine: what goes in, what comes out, and the ways in which an image can be unusable. */
import { CodedError } from '../errors.js'
import type { StageTimings } from './stages.js'

/** Why a request to the engine produced no result. The first group blames the image, the second the moment. */
export type BiometricErrorCode =
  | 'image_unreadable'
  | 'image_too_large'
  | 'image_too_small'
  | 'face_not_found'
  | 'multiple_faces'
  | 'face_too_small'
  | 'low_quality'
  | 'liveness_failed'
  | 'overloaded'
  | 'deadline_exceeded'
  | 'cancelled'
  | 'engine_unavailable'

/** A coded refusal. `message` is safe to show to a caller: it never holds image bytes, paths or embeddings. */
export class BiometricError extends CodedError<BiometricErrorCode> {
  override readonly name = 'BiometricError'
  constructor(
    code: BiometricErrorCode,
    message: string,
    /** Index into the caller's images, where one image is to blame. */
    readonly imageIndex?: number,
    /** For the log alone. */
    options?: { cause?: unknown },
  ) {
    super(code, message, options)
  }
}

/** Pixel rectangle in the upright (EXIF-rotated) source image; origin top left. */
export interface Box {
  x: number
  y: number
  width: number
  height: number
}

/** Measured on the chosen face. Ratios are 0..1, higher is better unless said otherwise. */
export interface Quality {
  /** Overall, 0..1: the minimum of its normalised parts. */
  score: number
  /** Width of the face box between its outer edges: the whole pixels of the source image that it touches. */
  faceWidthPx: number
  /** Confidence of the detector, 0..1. */
  detection: number
  /** Sharpness: variance of the Laplacian of the aligned grey chip, in grey levels squared. */
  sharpness: number
  /** Mean grey level of the aligned chip, 0..255. */
  brightness: number
  /** Standard deviation of the grey level of the aligned chip, 0..127.5. */
  contrast: number
}

export interface Liveness {
  /** False when the pack has no liveness role: nothing is then claimed. */
  checked: boolean
  /** Probability that the capture is a live person, 0..1; null when unchecked. */
  score: number | null
  /** null when unchecked. */
  passed: boolean | null
}

/** One usable face, as a worker hands it back. */
export interface FaceSample {
  /** Index of the image it was found in. */
  imageIndex: number
  box: Box
  /** Five points: right eye, left eye, nose tip, right and left mouth corner (the subject's right); null where the pack's landmarks give none. */
  landmarks: Array<[number, number]> | null
  quality: Quality
  liveness: Liveness
  /** [dimensions] float32, in the pack's own space (L2-normalised when the pack says so). */
  embedding: Float32Array
}

/** Where the moment, not the image, decides. */
export interface CallOptions {
  /** Absolute time on `performance.now()`'s axis after which the result is of no use. */
  deadlineMs?: number
  /** Aborting drops the call from the queue, or its result when it already runs; a running task is never interrupted. */
  signal?: AbortSignal
}

export interface EnrolResult {
  /** [dimensions] float32: the samples' embeddings averaged with quality as weight, then normalised as the pack says. */
  reference: Float32Array
  /** The best sample's. */
  quality: Quality
  liveness: Liveness
  samples: FaceSample[]
  timingsMs: StageTimings
}

export interface VerifyResult {
  /** Similarity, higher is more alike: cosine in -1..1, or 1 - d/2 for Euclidean packs. */
  score: number
  /** The sample that counted (the usable one with the best score that passed liveness, else the best score). */
  sample: FaceSample
  timingsMs: StageTimings
}

export interface CompareResult {
  /** As in `VerifyResult`. */
  score: number
  /** The face of the first and of the second image. */
  samples: [FaceSample, FaceSample]
  timingsMs: StageTimings
}

export interface InspectedImage {
  format: 'jpeg' | 'png' | 'webp'
  /** After EXIF rotation. */
  width: number
  height: number
}

export interface InspectResult {
  images: InspectedImage[]
  timingsMs: StageTimings
}

export interface ProviderStatus {
  /** The provider that runs the sessions. */
  active: string
  /** Every provider asked for before it that could not serve, and why. */
  fallbacks: Array<{ provider: string; reason: string }>
}

export interface EngineHealth {
  status: 'ok' | 'degraded'
  /** Live and warmed-up workers against the number configured. */
  workers: { ready: number; configured: number }
  queue: { waiting: number; running: number; limit: number }
  provider: ProviderStatus
  model: string
  /** Of the engine process; undefined while there is none. */
  processId: number | undefined
}

export interface ImageLimits {
  /** Default 24_000_000. Checked on the header, before pixels are decoded. */
  maxPixels: number
  /** Shorter side, default 64 px. */
  minSidePx: number
  /** Width of the face box between its outer edges, default 80 px. */
  minFacePx: number
  /** A second face at least this fraction of the largest face's width makes `multiple_faces`; default 0.5. */
  secondFaceRatio: number
}

export interface EngineIncident {
  kind:
    | 'engine_process_lost'
    | 'worker_lost'
    | 'worker_load_failed'
    | 'worker_garbled'
    | 'task_stuck'
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
  /** Calls that may wait for a worker; one more is refused as `overloaded`. */
  queueLimit: number
  /** For tests alone: lets `Engine.injectFault` break workers on purpose. Default false. */
  faultInjection?: boolean
  /** Told of worker deaths and late errors; for log and metrics. */
  onIncident?: (incident: EngineIncident) => void
}
