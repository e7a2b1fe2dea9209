/** The action to be countersigned, in the canonical form in which two sides can compare it (RFC 8785). */
import Type from 'typebox'
import { canonicalJson } from '../contract/canonical-json.js'
import { invalidField } from '../lib/domain-error.js'
import type { ActionKinds } from './call-parts.js'

const MAX_ACTION_BYTES = 4096

/** @param kinds of actions with a form of their own */
export const actionField = (kinds: readonly ActionKinds[]) =>
  Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown())], {
    // Readers of the document see these; `canonicalAction` checks such actions, with a sentence for each field.
    ...(kinds.length > 0 && { documentedBranches: kinds.flatMap(({ schemas }) => schemas) }),
    description: [
      `The action to be countersigned, such as the transfer's amount and payee: an object or a string, at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form. Integers beyond 2^53 - 1 and numbers with more digits than a double holds are refused, because readers differ in the number that they read: send them as strings.`,
      ...kinds.map(({ about }) => about),
    ].join(' '),
    examples: [{ type: 'wire_transfer', amount: '1250.00', currency: 'EUR', to: 'DE89370400440532013000' }],
  })

/**
 * Canonical JSON of the action (RFC 8785).
 * @param kinds of actions with a form of their own
 * @throws DomainError invalid_request when the action is too long, holds a number beyond the range of I-JSON (RFC 7493), or is of one of
 *   the kinds without its form
 */
export function canonicalAction(action: unknown, kinds: readonly ActionKinds[]): string {
  const refuse = (issue: string) => invalidField('action', issue)
  let canonical: string
  try {
    canonical = canonicalJson(action)
  } catch {
    throw refuse('has no RFC 8785 canonical form: it holds a number out of range or is nested too deeply')
  }
  if (Buffer.byteLength(canonical) > MAX_ACTION_BYTES)
    throw refuse(`must be at most ${MAX_ACTION_BYTES} bytes in RFC 8785 canonical form`)
  for (const kind of kinds) kind.assertValid(action)
  return canonical
}
