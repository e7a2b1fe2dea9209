/** Schema of `pack.json`, format 1: the networks of a pack and every number needed to feed and read them. */
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
  /** Training data of the network, if it is known: some of it was published only for research. */
  trainingData: Type.Optional(Origin),
  /**
   * The same network in 8 bits, which processors compute several times as fast. Its outputs must be practically the
   * same.
   */
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

/** Angles as `head_pose_yaw` and `head_pose_pitch` measure them, relative to the first frontal look. */
const ActiveLivenessSchema = Type.Object(
  {
    /** Largest yaw of a frontal look. */
    frontalDegrees: Degrees,
    /** Smallest angles of a turned and of a nodding head. */
    turnDegrees: Degrees,
    nodDegrees: Degrees,
    /** Largest angles of a head that is back in the middle. */
    returnDegrees: Degrees,
    /** Largest change between two frames 200 ms apart; center and size of eyes and mouth, in multiples of that size. */
    mostPerStride: Type.Object({ yaw: Degrees, pitch: Degrees, centre: Ratio, size: Ratio }, strict),
    /** Smallest value, for a moved face, of the distance of the eyes divided by the distance from eyes to mouth. */
    leastAspect: Ratio,
    /**
     * False match rate whose threshold a moved face must reach to count as the one of the frontal look. Default: that
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
        /** Anchors of tiny-yolov2: [width, height] in grid cells. */
        anchors: Type.Optional(Type.Array(Point, { minItems: 1 })),
        scoreThreshold: Ratio,
        /** Lower score that counts if no face reaches `scoreThreshold`. Default: none does. */
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
            /** Positions of those points in chip pixels (integer = pixel center). */
            target: Type.Array(Point, { minItems: 2 }),
          },
          strict,
        ),
        dimensions: Type.Integer({ minimum: 8, maximum: 4096 }),
        normalize: Type.Boolean(),
        flipAverage: Type.Boolean(),
        metric: Type.Enum(['euclidean', 'cosine']),
        /**
         * False match rate whose threshold several images of one request must reach to count as one person's. Default
         * 1e-3.
         */
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
           * Smallest share of `cropScale` for which the image must have room: with less around the face nothing is
           * judged, and the guidance is to move away. Default 0: the networks judge every face.
           */
          leastCropShare: Type.Optional(Ratio),
        },
        strict,
      ),
    ),
    /** Bounds for a series of frames that shows a head that moved as asked. A pack without them has no challenge. */
    activeLiveness: Type.Optional(ActiveLivenessSchema),
    quality: Type.Optional(QualitySpecSchema),
    /** Lowest score at which two captures of one user count as one that was sent twice. Default 0.98. */
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
/** File of a pack in any role. */
export type NetworkFile = Pick<EmbedderSpec, 'file' | 'sha256' | 'licence' | 'origin' | 'quantised'>
