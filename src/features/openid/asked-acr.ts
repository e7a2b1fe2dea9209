/** Reads the `acr` that a relying party asks for by `acr_values` and `claims`, and finds the fields of a capture session that ask a person for it. */
import { checksOf, missingChecks } from '../../contract/acr.js'

export interface AskedAcr {
  /** The `acr` values that satisfy the relying party, in the order of preference. Never empty. */
  values: string[]
  /** Whether an approval of a weaker `acr` is an error. */
  isEssential: boolean
}

/** Fields of a request for a capture session. */
interface CaptureFields {
  require_liveness: 'active' | 'both'
  modes?: Array<'turn' | 'nod'>
  passkey?: 'required'
}

/**
 * @param acrValues parameter `acr_values`: names, separated by spaces; voluntary (OpenID Connect Core, section 5.5.1.1)
 * @param claims parameter `claims`
 * @param least the `acr` of the application's settings, which is essential
 */
export function askedAcr(acrValues: unknown, claims: unknown, least: string): AskedAcr {
  const member = claimsMember(claims)
  const named = claimValues(member)
  if (named.length > 0 && member?.essential === true) return { values: named, isEssential: true }
  const voluntary = [...named, ...(typeof acrValues === 'string' ? acrValues.split(' ') : [])]
  const known = voluntary.filter((value) => checksOf(value) !== null)
  return { values: known.length > 0 ? known : [least], isEssential: false }
}

/** @returns fields that ask for the first value that is known; null where none is */
export function captureFields({ values }: AskedAcr, least: string): CaptureFields | null {
  const first = values.find((value) => checksOf(value) !== null)
  if (first === undefined) return null
  const checks = new Set([...checksOf(first)!, ...(checksOf(least) ?? [])])
  const modes = (['turn', 'nod'] as const).filter((mode) => checks.has(mode))
  return {
    require_liveness: checks.has('pad') ? 'both' : 'active',
    ...(modes.length > 0 ? { modes } : {}),
    ...(checks.has('swk') ? { passkey: 'required' } : {}),
  }
}

/** Whether an approval is as strong as the application's settings, and as one of the values where they are essential. */
export function satisfies(given: string, { values, isEssential }: AskedAcr, least: string): boolean {
  if (missingChecks(least, given).length > 0) return false
  return !isEssential || values.some((value) => isAtLeast(given, value))
}

/** The name for the ID token: the value that was asked for, where the approval is as strong, or else its own. */
export function namedAcr(given: string, { values }: AskedAcr): string {
  return values.find((value) => isAtLeast(given, value)) ?? given
}

function isAtLeast(given: string, value: string): boolean {
  return checksOf(value) !== null && missingChecks(value, given).length === 0
}

/** The values that a member of the parameter `claims` asks for (OpenID Connect Core, section 5.5.1). */
export function claimValues(member: unknown): string[] {
  const { value, values } = (member ?? {}) as { value?: unknown; values?: unknown }
  const all = [value, ...(Array.isArray(values) ? values : [])]
  return all.filter((one): one is string => typeof one === 'string')
}

function claimsMember(claims: unknown): Record<string, unknown> | undefined {
  if (typeof claims !== 'string') return undefined
  const { id_token: idToken } = JSON.parse(claims) as { id_token?: { acr?: Record<string, unknown> | null } }
  return idToken?.acr ?? undefined
}
