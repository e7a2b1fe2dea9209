/** The commands `list` and `rotate` of keys that are published before they sign, and that checkers read. */
import type { Command } from 'commander'
import type { Environment } from '../../config/config.js'
import { declare } from './command.js'
import { listing } from './style.js'

const BOTH: readonly Environment[] = ['production', 'sandbox']

export interface SigningKeyView {
  kid: string
  environment: Environment
  /** `published`: not signing yet. `retired`: not signing any more, and still published for tokens that are under way. */
  state: 'published' | 'signing' | 'retired'
  published_at: string
  signs_from: string
  /** Null for the newest key. */
  published_until: string | null
}

export interface SigningKeys {
  /** The time from the publication of a key to its first signature, such as `two hours`. */
  lead: string
  /** A clause that says who refuses signatures after an emergency, and for how long. */
  cost: string
  list(): Promise<SigningKeyView[]>
  /** Resolves with the keys as they are then. */
  rotate(environments: readonly Environment[], options: { isEmergency: boolean }): Promise<SigningKeyView[]>
}

export function registerSigningKeys(keys: Command, { lead, cost, list, rotate }: SigningKeys): void {
  declare(keys, 'list', {
    does: 'list the published keys of both environments and what each does now',
    answer: list,
    text: keyTable,
  })

  declare(keys, 'rotate', {
    does: `publish the next key, which signs ${lead} later; the service may be running`,
    options: {
      '--environment <name>': { does: 'only this environment; default: both', choices: BOTH },
      '--emergency': `for a key that somebody else may know: remove all present keys and sign with a new one at once; ${cost}`,
    },
    answer: ({ environment, emergency: isEmergency }) =>
      rotate(environment ? [environment] : BOTH, { isEmergency }),
    text: keyTable,
  })
}

function keyTable(views: readonly SigningKeyView[]): string {
  return listing(
    ['KEY', 'ENVIRONMENT', 'STATE', 'SIGNS FROM', 'PUBLISHED UNTIL'],
    views.map(({ kid, environment, state, signs_from, published_until }) => [
      ...[kid, environment, state, signs_from, published_until ?? '–'],
    ]),
  )
}
