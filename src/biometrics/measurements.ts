/**
 * Schemas of everything that workers measure. The service validates workers' replies with them, since a picture may
 * have compromised a worker; every type of a measurement follows from its schema.
 */
import Type, { type Static, type TNumber, type TOptional, type TSchema } from 'typebox'
import { QUALITY_COMPONENTS } from '../../models/pack/quality-components.js'
import { ENGINE_STAGES } from './stages.js'

const number = Type.Number()
const count = Type.Integer({ minimum: 0 })
const nullable = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, Type.Null()])

/** Schema of an object with some of these numbers and nothing else. */
function numbersOf<Name extends string>(names: readonly Name[]) {
  const fields = names.map((name) => [name, Type.Optional(number)])
  return Type.Object(Object.fromEntries(fields) as Record<Name, TOptional<TNumber>>, {
    additionalProperties: false,
  })
}

const BoxSchema = Type.Object({ x: number, y: number, width: number, height: number })

/** Pixel rectangle in the upright (EXIF-rotated) source image; origin top left. */
export type Box = Static<typeof BoxSchema>

const ComponentsSchema = numbersOf(QUALITY_COMPONENTS)

/**
 * Components as `pipeline/judge/quality-components.ts` measures them; those that the pack's landmarks do not show are
 * missing.
 */
export type QualityComponents = Static<typeof ComponentsSchema>

/** Why an image is too poor: a component beyond its bound. */
export const QualityFaultSchema = Type.Object({
  /** Index into the caller's images. */
  imageIndex: count,
  component: Type.Enum(QUALITY_COMPONENTS),
  value: number,
  bound: Type.Object({ min: Type.Optional(number), max: Type.Optional(number) }),
  /** One sentence on what the person can do about it. */
  hint: Type.String(),
})

export type QualityFault = Static<typeof QualityFaultSchema>

const QualitySchema = Type.Object({
  /** Overall quality, 0..1: the minimum of its normalized parts. */
  score: number,
  /** Width of the face box between its outer edges: the whole pixels of the source image that it touches. */
  faceWidthPx: number,
  /** Confidence of the detector, 0..1. */
  detection: number,
  /** Sharpness: variance of the Laplacian of the aligned gray chip, in gray levels squared. */
  sharpness: number,
  /** Mean gray level of the aligned chip, 0..255. */
  brightness: number,
  /** Standard deviation of the gray level of the aligned chip, 0..127.5. */
  contrast: number,
  components: ComponentsSchema,
})

/** Measured on the chosen face. Ratios are 0..1, higher is better unless said otherwise. */
export type Quality = Static<typeof QualitySchema>

export const LivenessSchema = Type.Object({
  /** False when the pack has no liveness role: the result then claims nothing. */
  checked: Type.Boolean(),
  /** Probability that the capture is a live person, 0..1; null when unchecked, or when nothing could be judged. */
  score: nullable(number),
  /** True if the score reaches the pack's threshold; null when unchecked. */
  passed: nullable(Type.Boolean()),
  /** Why nothing could be judged: the face leaves too little room around it. `passed` is then false. */
  guidance: Type.Optional(Type.Literal('too_close')),
})

export type Liveness = Static<typeof LivenessSchema>

const FacesInImageSchema = Type.Object({
  count,
  /** True if the largest face is also the one nearest the middle: both rules choose the same face. */
  isLargestCentral: Type.Boolean(),
})

export type FacesInImage = Static<typeof FacesInImageSchema>

/** Schema of a [dimensions] float32 vector. Other lengths are refused: the service would compute with them. */
function vectorSchema(dimensions: number) {
  return Type.Refine(Type.Unsafe<Float32Array>({}), (value) => isVector(value, dimensions))
}

/** Lengths of the embeddings of packs that may follow, by model id. */
export type OtherDimensions = ReadonlyMap<string, number>

/** Schema of embeddings by packs that follow. */
function othersSchema(dimensions: OtherDimensions) {
  return Type.Refine(Type.Unsafe<Record<string, Float32Array | null>>(Type.Object({})), (value) =>
    Object.entries(value).every(([modelId, vector]) => {
      const length = dimensions.get(modelId)
      return length !== undefined && (vector === null || isVector(vector, length))
    }),
  )
}

function isVector(value: unknown, length: number): value is Float32Array {
  return value instanceof Float32Array && value.length === length
}

/** Embeddings of one face: by the pack that decides, and by those that follow. */
export function embeddingsSchema(dimensions: number, others: OtherDimensions) {
  return Type.Object({
    /** Embedding in the pack's own space (L2-normalized if the pack says so). */
    embedding: vectorSchema(dimensions),
    /** Embeddings by packs that follow, by model id; null where such a pack finds no such face. Left out where none follows. */
    others: Type.Optional(othersSchema(others)),
  })
}

export function faceSampleSchema(dimensions: number, others: OtherDimensions) {
  return Type.Object({
    ...embeddingsSchema(dimensions, others).properties,
    /** Index of the image in which the face was found. */
    imageIndex: count,
    /** All faces that were found in that image. */
    faces: FacesInImageSchema,
    box: BoxSchema,
    /** Five points: right eye, left eye, nose tip, right and left mouth corner (the subject's right); null where the pack's landmarks give none. */
    landmarks: nullable(Type.Array(Type.Tuple([number, number]))),
    quality: QualitySchema,
    liveness: LivenessSchema,
  })
}

/** One usable face, as a worker hands it back. */
export type FaceSample = Static<ReturnType<typeof faceSampleSchema>>

/** A frame whose face is measured but not embedded. */
const FrameFaceSchema = Type.Object({
  imageIndex: count,
  faces: FacesInImageSchema,
  box: BoxSchema,
  /** Five points in the order of a sample's landmarks, never null. */
  landmarks: Type.Array(Type.Tuple([number, number]), { minItems: 5, maxItems: 5 }),
  quality: QualitySchema,
  /** Width of the frame in pixels, after EXIF rotation. */
  width: count,
  height: count,
})

export type FrameFace = Static<typeof FrameFaceSchema>

/** A frame without a usable face. */
const FrameRefusalSchema = Type.Object({
  imageIndex: count,
  code: Type.Enum(['face_not_found', 'multiple_faces', 'face_too_small', 'face_not_upright']),
})

export type FrameRefusal = Static<typeof FrameRefusalSchema>

export const LookSchema = Type.Union([FrameFaceSchema, FrameRefusalSchema])

export type Look = Static<typeof LookSchema>

export const AlignmentSchema = Type.Tuple([number, number, number, number])

/** How a face was aligned: pixel (x, y) of the embedder's chip shows pixel (a·x - b·y + tx, b·x + a·y + ty) of the decoded picture; [a, b, tx, ty]. */
export type Alignment = Static<typeof AlignmentSchema>

export const InspectedImageSchema = Type.Object({
  format: Type.Enum(['jpeg', 'png', 'webp']),
  /** Width in pixels, after EXIF rotation; so is the height. */
  width: count,
  height: count,
})

export type InspectedImage = Static<typeof InspectedImageSchema>

export const StageTimingsSchema = numbersOf(ENGINE_STAGES)

/** Milliseconds spent in each stage, summed over the request's images. */
export type StageTimings = Static<typeof StageTimingsSchema>

export const ProviderStatusSchema = Type.Object({
  /** The execution provider that runs the sessions. */
  active: Type.String(),
  /** Every preferred provider that could not serve, and why. */
  fallbacks: Type.Array(Type.Object({ provider: Type.String(), reason: Type.String() })),
})

export type ProviderStatus = Static<typeof ProviderStatusSchema>
