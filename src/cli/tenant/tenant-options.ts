/** The options of a tenant's contract, and the rate that its verdicts are signed with. */
import { loadConfig } from '../../app/configuration.js'
import { type Config, type Environment, parseRate } from '../../config/config.js'
import { falseMatchRateProblem } from '../../config/false-match-rate.js'
import { LIVENESS_REQUIREMENTS, type LivenessRequirement } from '../../config/liveness-requirement.js'
import { MINUTE_MS } from '../../lib/clock.js'
import type { TenantRecord } from '../../storage/records.js'
import { parseDuration } from '../lib/duration.js'
import { UsageError } from '../lib/output.js'
import { packInPlace } from '../lib/pack-in-place.js'

/** At most a day: a person who agreed yesterday is asked again. */
const MAX_REPLACE_VERDICT_MINUTES = 1440

export function parseEnvironment(text: string, option: string): Environment {
  if (text === 'sandbox' || text === 'production') return text
  throw new UsageError('invalid_option', `${option} is "${text}"; expected sandbox or production.`)
}

export function parseRateLimit(text: string): number {
  try {
    return parseRate(text, '--rate-limit')
  } catch (error) {
    throw new UsageError('invalid_option', (error as Error).message)
  }
}

/** The false match rate that a tenant's verdicts are signed with. */
export interface SignedRate {
  fmr: number
  basis: 'measured' | 'extrapolated'
}

/** @returns null where no pack is installed yet, since the pack decides */
export async function signedRate(config: Config, { fmr: asked }: TenantRecord): Promise<SignedRate | null> {
  const { thresholdForFmr } = await import('../../../models/pack/model-pack.js')
  // `doctor` and `serve` report a damaged pack; the tenant is shown nevertheless.
  const pack = await packInPlace(config).catch(() => null)
  if (!pack) return null
  const { fmr, basis } = thresholdForFmr(pack, asked ?? config.fmr)
  return { fmr, basis }
}

/** The rate as a clause of a sentence. */
export function describeSignedRate(signed: SignedRate | null): string {
  if (!signed) return 'the signed rate is known once a model pack is installed'
  return `signed at ${signed.fmr}, ${signed.basis}`
}

export function parseRequirement(text: string): LivenessRequirement {
  const required = LIVENESS_REQUIREMENTS.find((name) => name === text)
  if (required) return required
  throw new UsageError(
    'invalid_option',
    `--require-liveness is "${text}"; expected ${LIVENESS_REQUIREMENTS.join(', ')}.`,
  )
}

/** Checks a liveness requirement against the installed pack. @throws PackGradeError liveness_not_served */
export async function assertServed(required: LivenessRequirement): Promise<void> {
  const pack = await packInPlace(loadConfig())
  if (!pack) return
  const { assertLivenessServed } = await import('../../../models/pack/pack-grade.js')
  assertLivenessServed(pack, required, '--require-liveness')
}

/** @returns minutes; null for `none` */
export function parseReplaceVerdict(text: string): number | null {
  if (text === 'none') return null
  const minutes = parseDuration(text) / MINUTE_MS
  if (!Number.isInteger(minutes) || minutes < 1 || minutes > MAX_REPLACE_VERDICT_MINUTES)
    throw new UsageError(
      'invalid_option',
      `--replace-verdict is "${text}"; expected whole minutes from 1m to 24h, or none.`,
    )
  return minutes
}

export function parseFmr(text: string, option: string): number {
  const problem = falseMatchRateProblem(text, option)
  if (problem) throw new UsageError('invalid_option', problem)
  return Number(text)
}
