/** The shape of `pack.json`, format 1: which networks a pack has and every number needed to feed and read them. */
import Type, { type Static } from 'typebox'
import { QualitySpecSchema } from './quality-schema.js'

const strict = { additionalProperties: false } as const

/** A plain file name: a pack never reaches outside its own folder. */
const FileName = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]*$', maxLength: 128 })
const Triple = Type.Tuple([Type.Number(), Type.Number(), Type.Number()])
const Point = Type.Tuple([Type.Number(), Type.Number()])
const Ratio = Type.Number({ minimum: 0, maximum: 1 })
const Side = Type.Integer({ minimum: 16, maximum: 4096 })

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' })
const Origin = Type.String({ minLength: 1 })

const networkFile = {
  file: FileName,
  sha256: Sha256,
  licence: Type.String({ minLength: 1 }),
  origin: Origin,
  /** What the network learned from, as far as it is known: some of it was published for research alone. */
  trainingData: Type.Optional(Origin),
  /** The same network in 8 bits, which processors compute several times as fast. Its outputs must be as good as the same. */
  quantised: Type.Optional(Type.Object({ file: FileName, sha256: Sha256, origin: Origin }, strict)),
}

/** Fed as planar NCHW float32, channels in `color` order: x' = (x - mean) * scale with x in 0..255. */
const pixelInput = {
  color: Type.Enum(['rgb', 'bgr']),
  mean: Triple,
  scale: Triple,
}
const FixedInput = Type.Object({ width: Side, height: Side, ...pixelInput }, strict)

const Degrees = Type.Number({ exclusiveMinimum: 0, maximum: 60 })

/** Angles as `head_pose_yaw` and `head_pose_pitch` measure them, against the look straight ahead at the beginning. */
const ActiveLivenessSchema = Type.Object(
  {
    /** Largest yaw of a look straight ahead. */
    frontalDegrees: Degrees,
    /** From which on a head counts as turned, and as nodding. */
    turnDegrees: Degrees,
    nodDegrees: Degrees,
    /** Within which a head is back in the middle. */
    returnDegrees: Degrees,
    /** Most change between two frames 200 ms apart; centre and size of eyes and mouth, in sizes of the same. */
    mostPerStride: Type.Object({ yaw: Degrees, pitch: Degrees, centre: Ratio, size: Ratio }, strict),
    /** Of a moved face's distance of the eyes over that from eyes to mouth, the least that may be left. */
    leastAspect: Ratio,
    /**
     * From which false match rate's threshold on a moved face counts as the one that looked straight ahead before. Default: as
     * of the images of one request.
     */
    movedFaceFmr: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
  },
  strict,
)

export const PackSchema = Type.Object(
  {
    format: Type.Literal(1),
    id: Type.String({ pattern: '^[a-z0-9][a-z0-9.-]*$', maxLength: 64 }),
    version: Type.String({ pattern: '^[0-9A-Za-z][0-9A-Za-z.+-]*$', maxLength: 32 }),
    description: Type.String(),
    detector: Type.Object(
      {
        ...networkFile,
        decoder: Type.Enum(['tiny-yolov2', 'yunet']),
        input: Type.Object(pixelInput, strict),
        /** tiny-yolov2: sides of square letterboxes; yunet: longest sides, never enlarged. Detections are merged. */
        sizes: Type.Array(Type.Integer({ minimum: 32, maximum: 2048 }), { minItems: 1, maxItems: 4 }),
        /** A face at least this wide in network pixels makes the remaining sizes unnecessary. */
        sufficientFacePx: Type.Optional(Type.Integer({ minimum: 1 })),
        /** tiny-yolov2 alone: [width, height] in grid cells. */
        anchors: Type.Optional(Type.Array(Point, { minItems: 1 })),
        scoreThreshold: Ratio,
        /** Where no face reaches `scoreThreshold`, those that reach this count. Default: none do. */
        lastResortScoreThreshold: Type.Optional(Ratio),
        nmsIou: Ratio,
      },
      strict,
    ),
    landmarks: Type.Optional(
      Type.Object(
        {
          ...networkFile,
          decoder: Type.Enum(['face-api-68']),
          input: FixedInput,
          flipAverage: Type.Boolean(),
        },
        strict,
      ),
    ),
    embedder: Type.Object(
      {
        ...networkFile,
        input: FixedInput,
        alignment: Type.Object(
          {
            /** Indices into the landmarks, one for each target point. */
            source: Type.Array(Type.Integer({ minimum: 0, maximum: 67 }), { minItems: 2 }),
            /** Where those points belong, in chip pixels (integer = pixel centre). */
            target: Type.Array(Point, { minItems: 2 }),
          },
          strict,
        ),
        dimensions: Type.Integer({ minimum: 8, maximum: 4096 }),
        normalize: Type.Boolean(),
        flipAverage: Type.Boolean(),
        metric: Type.Enum(['euclidean', 'cosine']),
        /** From which false match rate's threshold on several images of one request count as one person. Default 1e-3. */
        samePersonFmr: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
      },
      strict,
    ),
    liveness: Type.Optional(
      Type.Object(
        {
          decoder: Type.Enum(['minifasnet']),
          networks: Type.Array(
            Type.Object(
              { ...networkFile, input: FixedInput, cropScale: Type.Number({ minimum: 1, maximum: 10 }) },
              strict,
            ),
            { minItems: 1, maxItems: 4 },
          ),
          liveClass: Type.Integer({ minimum: 0 }),
          threshold: Ratio,
          /**
           * Of `cropScale`, the least that the image must have room for: with less around the face nothing is judged, and the
           * person is told to move away. Default 0: the networks judge whatever there is.
           */
          leastCropShare: Type.Optional(Ratio),
        },
        strict,
      ),
    ),
    /** When a series of frames counts as a head that moved as it was asked to. Without it the pack takes no challenge. */
    activeLiveness: Type.Optional(ActiveLivenessSchema),
    quality: Type.Optional(QualitySpecSchema),
    /** The score from which on two captures of one user count as one that was sent twice. Default 0.98. */
    replayScore: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
    calibration: Type.Object(
      {
        source: Type.String(),
        points: Type.Array(
          Type.Object(
            {
              fmr: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
              threshold: Type.Number(),
              measured: Type.Optional(Type.Boolean()),
            },
            strict,
          ),
          { minItems: 1 },
        ),
      },
      strict,
    ),
  },
  strict,
)

export type PackManifest = Static<typeof PackSchema>
export type DetectorSpec = PackManifest['detector']
export type LandmarksSpec = NonNullable<PackManifest['landmarks']>
export type EmbedderSpec = PackManifest['embedder']
export type ActiveLivenessSpec = NonNullable<PackManifest['activeLiveness']>
export type LivenessSpec = NonNullable<PackManifest['liveness']>
export type PixelInput = DetectorSpec['input']
export type FixedInput = EmbedderSpec['input']
/** Any file of a pack, whatever its role. */
export type NetworkFile = Pick<EmbedderSpec, 'file' | 'sha256' | 'licence' | 'origin' | 'quantised'>
