/** Computes a pack's thresholds from the scores between a service's own users, whom nobody labelled. */
import { type Calibration, packFingerprint } from '../../models/pack/calibration.js'
import { TENANT_LABEL } from '../../models/pack/group-fault.js'
import { CalibrationError, pointOf } from './calibrate.js'
import { type LikelyDuplicates, likelyDuplicates } from './likely-duplicates.js'
import { HISTOGRAM_BINS, type StrangerPairs, strangerPairs, type UserVectors } from './stranger-pairs.js'
import { UsersRates } from './users-rates.js'

export interface UsersInput extends UserVectors {
  /** Name of each tenant, by its index. */
  tenants: readonly string[]
  /** Number of photos that the references were made of. */
  photos: number
  /** Seed for drawing people again. */
  seed: number
  /** Milliseconds since 1970. */
  now: number
}

export interface UsersCalibration {
  calibration: Calibration
  duplicates: LikelyDuplicates
  /** Number of pairs by score, in steps of 0.05 from -1 to 1, without users who are likely duplicates. */
  histogram: number[]
}

/** Fewer people than this say nothing about a population: 30 make 435 pairs. */
const MIN_PEOPLE = 30
/** Bins of the printed histogram. */
const PRINTED_BINS = 40

/**
 * Users who are likely duplicates are left out before anything is measured. FNMR stays unknown: nobody knows two photos of one user.
 * @throws CalibrationError too_few_people
 */
export function calibrateFromUsers(input: UsersInput): UsersCalibration {
  const { pack, embeddings, tenants, photos, seed, now } = input
  const duplicates = likelyDuplicates(strangerPairs(input))
  const surplus = new Set(duplicates.surplus)
  const isKept = (_: unknown, user: number) => !surplus.has(user)
  const tenantOf = input.tenantOf.filter(isKept)
  const strangers = strangerPairs({ pack, embeddings: embeddings.filter(isKept), tenantOf })
  const rates = new UsersRates(strangers, seed)
  const measured = strangers.users < MIN_PEOPLE ? [] : rates.measured()
  if (measured.length === 0)
    throw new CalibrationError(
      'too_few_people',
      `${strangers.users} users with ${strangers.pairs} pairs are too few to calibrate with: not even a false match rate of 0.01 can be shown.`,
    )
  const { id, version } = pack.manifest
  const points = [...measured, ...rates.extrapolated(measured)]
  return {
    calibration: {
      format: 1,
      pack: { id, version, sha256: packFingerprint(pack.manifest) },
      source: 'users',
      ...(pack.calibration?.provider ? { provider: pack.calibration.provider } : {}),
      // References cannot be turned: what was measured on photos stays.
      ...(pack.calibration?.check ? { check: pack.calibration.check } : {}),
      ...(pack.calibration?.upright ? { upright: pack.calibration.upright } : {}),
      date: new Date(now).toISOString().slice(0, 10),
      data: {
        photos,
        people: strangers.users,
        genuine_pairs: 0,
        impostor_pairs: strangers.pairs,
        failed_to_acquire: 0,
        likely_duplicates: duplicates.people,
      },
      points,
      groups: tenantGroups(rates, strangers, tenantOf, tenants, points),
    },
    duplicates,
    histogram: coarse(strangers.histogram),
  }
}

/** The rates within each tenant, where there are several, and where a tenant's own pairs can show the lowest rate that was measured. */
function tenantGroups(
  rates: UsersRates,
  strangers: StrangerPairs,
  tenantOf: readonly number[],
  tenants: readonly string[],
  points: Calibration['points'],
): Calibration['groups'] {
  if (tenants.length < 2) return []
  const measured = points.filter(({ basis }) => basis === undefined)
  return tenants.flatMap((group, tenant) => {
    const has = Uint8Array.from(tenantOf, (of) => (of === tenant ? 1 : 0))
    const pairs = strangers.countWith(has)
    if (pairs * measured.at(-1)!.fmr < 3) return []
    const at = rates.reader.at(
      measured.map(({ threshold }) => threshold),
      has,
    )
    return {
      label: TENANT_LABEL,
      group,
      people: has.reduce((sum, member) => sum + member, 0),
      genuine_pairs: 0,
      impostor_pairs: pairs,
      points: at.map((one, i) => ({ fmr: measured[i]!.fmr, ...pointOf(one) })),
    }
  })
}

function coarse(histogram: Uint32Array): number[] {
  const width = HISTOGRAM_BINS / PRINTED_BINS
  return Array.from({ length: PRINTED_BINS }, (_, bin) =>
    histogram.subarray(bin * width, (bin + 1) * width).reduce((sum, count) => sum + count, 0),
  )
}
