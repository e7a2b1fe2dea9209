/** A policy in words, for people: which actions a rule is for, and what it asks of an approval. The dashboard's pages are built from this file too. */
import { type AcrCheck, checksOf } from './acr.js'
import type { ActionPolicy, PolicyCondition, PolicyRequirements } from './action-policy.js'

type Words = {
  [Name in keyof PolicyRequirements]-?: (
    value: NonNullable<PolicyRequirements[Name]>,
  ) => readonly [name: string, value: string]
}

/** Every requirement has its words: the type refuses one that is missing. */
const WORDS: Words = {
  acr: (acr) => ['Least acr', acr],
  max_fmr: (rate) => ['False match rate', `at most ${rate}`],
  min_photos: (count) => ['Images', `at least ${count}`],
  max_reference_age_days: (days) => ['Reference', `younger than ${counted(days, 'day')}`],
  min_reference_photos: (count) => ['Photos of the reference', `at least ${count}`],
  consent_id: (id) => ['Consent', id],
  integrity: () => ['Signals of the capture', 'a person looks at a capture that has any'],
  capture_binding: () => ['Hosted page', 'the result goes to the browser that captured'],
  second_approver: ({ within_minutes, user_ids }) => [
    'Second person',
    `within ${counted(within_minutes, 'minute')}${user_ids ? `: ${joined(user_ids, 'or')}` : ''}`,
  ],
}

const CHECKS: Record<AcrCheck, string> = {
  challenge: 'the frames of a challenge',
  turn: 'a turn of the head',
  nod: 'a nod',
  pad: 'the liveness network',
  swk: 'a passkey',
  hwk: 'a passkey that counts as a key in hardware',
}

/** @returns names and values, such as "Reference" and "younger than 730 days"; empty where the rule asks for nothing */
export function requirementsInWords(required: PolicyRequirements): Array<readonly [string, string]> {
  const words = Object.entries(WORDS) as Array<[keyof Words, (value: unknown) => readonly [string, string]]>
  return words.flatMap(([name, say]) => (required[name] === undefined ? [] : [say(required[name])]))
}

/** @returns the checks that an `acr` stands for, such as "the face, the frames of a challenge and a nod" */
export function checksInWords(acr: string): string {
  const checks = checksOf(acr) ?? []
  // A passkey in hardware is a passkey too.
  const said = checks.filter((check) => check !== 'swk' || !checks.includes('hwk'))
  return joined(['the face', ...said.map((check) => CHECKS[check])], 'and')
}

/** @returns such as "payment or login, of at least 30 EUR or 33 USD, or of an amount that cannot be compared" */
export function conditionInWords({ types, min_amount: least }: PolicyCondition = {}): string {
  const which = types ? joined(types, 'or') : 'every action'
  if (!least) return which
  const amounts = Object.entries(least).map(([currency, amount]) => `${amount} ${currency}`)
  return `${which}, of at least ${joined(amounts, 'or')}, or of an amount that cannot be compared`
}

/** @returns when users are erased whom nobody uses; null where the policy keeps them */
export function retentionInWords({ retention }: ActionPolicy): string | null {
  if (!retention) return null
  const { inactive_days, notice_days } = retention
  return `Users in production are erased after ${counted(inactive_days, 'day')} without an enrollment or approval, with a notice ${counted(notice_days, 'day')} before.`
}

function joined(parts: readonly string[], word: 'and' | 'or'): string {
  const last = parts.at(-1) ?? ''
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} ${word} ${last}`
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
