/**
 * Reads and writes `calibration.json` in a pack's folder: the thresholds that were measured for the pack, on whom,
 * and their confidence.
 */
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import canonicalize from 'canonicalize'
import Type, { type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import { isOfPeople, sameGroup } from './group-fault.js'
import { ModelPackError } from './model-pack-error.js'
import type { PackManifest } from './pack-schema.js'

export const CALIBRATION_JSON = 'calibration.json'

const strict = { additionalProperties: false } as const
const Count = Type.Integer({ minimum: 0 })
const Rate = Type.Number({ minimum: 0, maximum: 1 })
const DATE = '^\\d{4}-\\d{2}-\\d{2}$'
/** Both ends of a 95 % interval. */
const Interval = Type.Tuple([Rate, Rate])

/** Numbers of compared photos, people and pairs. */
const Sample = {
  people: Count,
  genuine_pairs: Count,
  impostor_pairs: Count,
}
/** Result at one threshold; a pair with an unusable photo counts as a miss. Null if there was no pair. */
const Rates = {
  measured_fmr: Type.Union([Rate, Type.Null()]),
  fmr_ci95: Interval,
  fnmr: Type.Union([Rate, Type.Null()]),
  fnmr_ci95: Interval,
}

/** [dimensions] float32, little-endian, in base64. */
const Vector = Type.String({ pattern: '^[A-Za-z0-9+/]+=*$', maxLength: 22_000 })

/** Embedding that came out where the scores were measured, to notice a machine on which a network computes something else. */
const CheckSchema = Type.Object(
  {
    /** SHA-256 of the picture's file. */
    picture: Type.String({ pattern: '^[0-9a-f]{64}$' }),
    embedding: Vector,
  },
  strict,
)

/** Rule that refuses faces that are not upright, and its rates on turned copies of the photos, one a person. */
const UprightSchema = Type.Object(
  {
    /** A vector of length 1, Fisher's linear discriminant of upright and turned faces. */
    axis: Vector,
    /** A face whose embedding has at least this cosine with the axis is refused as not upright. */
    bound: Type.Number({ minimum: -1, maximum: 1 }),
    /** One entry for each turn of the pictures, clockwise, in degrees; 0 are the upright pictures. */
    turns: Type.Array(
      Type.Object(
        {
          degrees: Type.Number(),
          photos: Count,
          /** Photos in which no face was found, or one that is not upright. */
          refused: Count,
          impostor_pairs: Count,
          /** The rate of matches with both pictures turned, by threshold, ascending. Intervals take pairs for independent. */
          points: Type.Array(
            Type.Object({ threshold: Type.Number(), measured_fmr: Rate, fmr_ci95: Interval }, strict),
          ),
        },
        strict,
      ),
    ),
  },
  strict,
)

export type UprightMeasurement = Static<typeof UprightSchema>

export const CalibrationSchema = Type.Object(
  {
    format: Type.Literal(1),
    /** Pack of the calibration: `sha256` as `packFingerprint` computes it. */
    pack: Type.Object(
      {
        id: Type.String({ minLength: 1 }),
        version: Type.String({ minLength: 1 }),
        sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
      },
      strict,
    ),
    /** True if it came with the pack, and a later pack's replaces it; otherwise the operator measured it. */
    origin: Type.Optional(Type.Literal('shipped')),
    /** True if the pairs are pairs of the service's own users, whom nobody labelled: no FNMR is known, and people may be duplicates. */
    source: Type.Optional(Type.Literal('users')),
    /** Execution provider of the networks; the processor if it is missing. */
    provider: Type.Optional(Type.String({ minLength: 1 })),
    /** Date of the measurement, YYYY-MM-DD. */
    date: Type.String({ pattern: DATE }),
    data: Type.Object(
      {
        name: Type.Optional(Type.String()),
        photos: Count,
        failed_to_acquire: Count,
        ...Sample,
        /** People who likely have several users, of whom one was compared. Only for a calibration from users. */
        likely_duplicates: Type.Optional(Count),
      },
      strict,
    ),
    check: Type.Optional(CheckSchema),
    upright: Type.Optional(UprightSchema),
    /** Rule of the thresholds: the false match rate is below the requested one at the upper end of the interval. */
    points: Type.Array(
      Type.Object(
        {
          fmr: Type.Number({ exclusiveMinimum: 0, maximum: 1 }),
          /** A score at or above it is a match. */
          threshold: Type.Number(),
          /** A threshold from the fitted tail of the scores, for a rate that the pairs cannot show; measured if it is missing. */
          basis: Type.Optional(Type.Literal('extrapolated')),
          ...Rates,
        },
        strict,
      ),
      { minItems: 1 },
    ),
    /** People who share a label, at each point's threshold. */
    groups: Type.Array(
      Type.Object(
        {
          label: Type.String(),
          group: Type.String(),
          /** Date of an earlier calibration of the pack that measured the group; missing if this one did. */
          carried_from: Type.Optional(Type.String({ pattern: DATE })),
          ...Sample,
          points: Type.Array(
            Type.Object(
              { fmr: Type.Number({ exclusiveMinimum: 0, maximum: 1 }), threshold: Type.Number(), ...Rates },
              strict,
            ),
          ),
        },
        strict,
      ),
    ),
  },
  strict,
)

export type Calibration = Static<typeof CalibrationSchema>
export type CalibrationPoint = Calibration['points'][number]
export type CalibrationGroup = Calibration['groups'][number]

const schema = Compile(CalibrationSchema)

/**
 * @param origin name of the text's source, for the message
 * @throws ModelPackError calibration_invalid
 */
export function parseCalibration(text: string, origin: string): Calibration {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(origin, (cause as Error).message, cause)
  }
  return checkCalibration(value, origin)
}

/** @throws ModelPackError calibration_invalid */
export function checkCalibration(value: unknown, origin: string): Calibration {
  if (!schema.Check(value)) {
    const [issue] = schema.Errors(value)
    throw invalid(
      origin,
      `${issue!.instancePath.slice(1).replaceAll('/', '.') || 'the document'} ${issue!.message}`,
    )
  }
  const byRate = value.points.toSorted((a, b) => b.fmr - a.fmr)
  if (byRate.some((point, i) => i > 0 && point.threshold < byRate[i - 1]!.threshold))
    throw invalid(origin, 'points: a lower false match rate cannot have a lower threshold')
  if (value.points.some(({ fmr, fmr_ci95 }) => fmr_ci95[1] > fmr))
    throw invalid(origin, 'points: the upper bound of a false match rate is over the rate that it stands for')
  return value
}

function invalid(origin: string, why: string, cause?: unknown): ModelPackError {
  return new ModelPackError('calibration_invalid', `${origin} is no calibration: ${why}`, { cause })
}

/**
 * Reads a folder's `calibration.json`; undefined or null without one.
 * @throws ModelPackError calibration_invalid; calibration_mismatch if it was measured with another pack
 */
export async function readCalibration(dir: string, manifest: PackManifest): Promise<Calibration | null> {
  const path = join(dir, CALIBRATION_JSON)
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const calibration = parseCalibration(text, path)
  assertMeasuredWith(calibration, manifest, path)
  const { dimensions } = manifest.embedder
  const { upright, check } = calibration
  for (const [field, text] of [
    ['upright.axis', upright?.axis],
    ['check.embedding', check?.embedding],
  ]) {
    const bytes = Buffer.from(text ?? '', 'base64').length
    if (text !== undefined && bytes !== 4 * dimensions)
      throw invalid(path, `${field} has ${bytes / 4} numbers, and the embedder gives ${dimensions}`)
  }
  return calibration
}

/** @throws ModelPackError calibration_mismatch */
export function assertMeasuredWith(calibration: Calibration, manifest: PackManifest, origin: string): void {
  const sha256 = packFingerprint(manifest)
  if (calibration.pack.sha256 === sha256) return
  const { id, version } = calibration.pack
  throw new ModelPackError(
    'calibration_mismatch',
    `${origin} was measured with ${id}@${version} (${calibration.pack.sha256}), not with ${manifest.id}@${manifest.version} (${sha256}): its thresholds would mean nothing. Delete it, or put one in its place that was measured with this pack: countersign models calibrate.`,
  )
}

/**
 * Keeps the operator's calibration when its pack is replaced. A calibration of another pack is dropped, and so is one
 * that came with the earlier pack: the new pack's was measured later, or on more people. What it found about groups is carried on.
 * @param brought the calibration that comes with the new pack
 * @returns whether there was one to keep
 */
export async function keepCalibration(
  fromDir: string,
  toDir: string,
  manifest: PackManifest,
  brought: Calibration | null,
): Promise<boolean> {
  const own = await ownCalibration(fromDir, manifest)
  if (own === null) return false
  const kept = brought ? withFormerFindings(own, brought) : own
  await writeFile(join(toDir, CALIBRATION_JSON), calibrationText(kept))
  return true
}

/**
 * Adds the groups that an earlier calibration of the same networks measured and the new one did not: a new calibration must not
 * forget whom the networks confuse. Returns the calibration itself where there are none.
 */
export function withFormerFindings(calibration: Calibration, former: Calibration): Calibration {
  const carried = former.groups
    .filter((group) => isOfPeople(group) && !calibration.groups.some((own) => sameGroup(own, group)))
    .map((group) => ({ ...group, carried_from: group.carried_from ?? former.date }))
  return carried.length === 0 ? calibration : { ...calibration, groups: [...calibration.groups, ...carried] }
}

/** The text of a calibration file. */
export function calibrationText(calibration: Calibration): string {
  return `${JSON.stringify(calibration, null, 2)}\n`
}

/** Returns whether a folder has thresholds that its operator measured with this pack. */
export async function holdsOwnCalibration(dir: string, manifest: PackManifest): Promise<boolean> {
  return (await ownCalibration(dir, manifest)) !== null
}

async function ownCalibration(dir: string, manifest: PackManifest): Promise<Calibration | null> {
  const calibration = await usableCalibration(dir, manifest)
  return calibration?.origin === 'shipped' ? null : calibration
}

/** A folder's calibration; null without one, and where it is of another pack or no calibration. */
export async function usableCalibration(dir: string, manifest: PackManifest): Promise<Calibration | null> {
  return readCalibration(dir, manifest).catch((error) => {
    if (error instanceof ModelPackError) return null
    throw error
  })
}

/**
 * SHA-256 over everything that decides a score: the hash of every network file and every number that feeds and reads them.
 * Names, licences, origins, liveness, bounds of enrolment photos and the pack's own calibration are not part of it.
 */
export function packFingerprint(manifest: PackManifest): string {
  const { detector, landmarks, embedder } = manifest
  const verify = manifest.quality?.verify
  const document = { detector, landmarks, embedder, ...(verify ? { quality: { verify } } : {}) }
  const deciding = JSON.stringify(document, (key, value) =>
    ['file', 'licence', 'origin', 'trainingData'].includes(key) ? undefined : value,
  )
  return createHash('sha256')
    .update(canonicalizeJson(JSON.parse(deciding))!)
    .digest('hex')
}

// The package's type declaration says default export; the CommonJS module behind it is the function itself.
const canonicalizeJson = canonicalize as unknown as (value: unknown) => string | undefined
