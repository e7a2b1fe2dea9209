/** The options of a tenant's contract, and the rate that its verdicts are signed with. */
import { loadConfig } from '../../app/configuration.js'
import { type Config, type Environment, parseRate } from '../../config/config.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'
import { LIVENESS_REQUIREMENTS, type LivenessRequirement } from '../../config/liveness-requirement.js'
import { MINUTE_MS } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import { expected, oneOf } from '../lib/command.js'
import { parseDuration } from '../lib/duration.js'
import { UsageError } from '../lib/output.js'
import { packInPlace } from '../lib/pack-in-place.js'

/** At most a day: a person who agreed yesterday is asked again. */
const MAX_REPLACE_VERDICT_MINUTES = 1440

export const parseEnvironment = oneOf<Environment>(['sandbox', 'production'], 'sandbox or production')
export const parseRequirement = oneOf(LIVENESS_REQUIREMENTS)

export function parseRateLimit(text: string): number {
  try {
    return parseRate(text, '--rate-limit')
  } catch (error) {
    throw new UsageError('invalid_option', (error as Error).message)
  }
}

/** The false match rate that a tenant's verdicts are signed with. Both fields are null where no pack is installed yet, since the pack decides. */
export type SignedRate = Awaited<ReturnType<typeof signedRate>>

export async function signedRate(config: Config, { fmr: asked }: TenantRecord) {
  const { thresholdForFmr } = await import('../../../models/pack/model-pack.js')
  // `doctor` and `serve` report a damaged pack; the tenant is shown nevertheless.
  const pack = await packInPlace(config).catch(() => null)
  if (!pack) return { signed_fmr: null, signed_fmr_basis: null }
  const { fmr, basis } = thresholdForFmr(pack, asked ?? config.fmr)
  return { signed_fmr: fmr, signed_fmr_basis: basis }
}

/** The rate as a clause of a sentence. */
export function describeSignedRate({ signed_fmr: fmr, signed_fmr_basis: basis }: SignedRate): string {
  return fmr === null
    ? 'the signed rate is known once a model pack is installed'
    : `signed at ${fmr}, ${basis}`
}

/** Checks a liveness requirement against the installed pack. @throws PackGradeError liveness_not_served */
export async function assertServed(required: LivenessRequirement): Promise<void> {
  const pack = await packInPlace(loadConfig())
  if (!pack) return
  const { assertLivenessServed } = await import('../../../models/pack/pack-grade.js')
  assertLivenessServed(pack, required, '--require-liveness')
}

/** @returns minutes; null for `none` */
export function parseReplaceVerdict(text: string, option: string): number | null {
  if (text === 'none') return null
  const minutes = parseDuration(text) / MINUTE_MS
  const isFitting = Number.isInteger(minutes) && minutes >= 1 && minutes <= MAX_REPLACE_VERDICT_MINUTES
  return expected(text, option, isFitting ? minutes : undefined, 'whole minutes from 1m to 24h, or none')
}

export function parseFmr(text: string, option: string): number {
  const problem = falseMatchRateProblem(text, option)
  if (problem) throw new UsageError('invalid_option', problem)
  return Number(text)
}
