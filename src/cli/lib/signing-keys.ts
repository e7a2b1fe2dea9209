/** The commands `list` and `rotate` of keys that are published before they sign, and that checkers read. */
import { type Command, Option } from 'commander'
import type { VerdictKeyView } from '../../admin/views.js'
import type { Environment } from '../../config/config.js'
import { answers } from './output.js'
import { listing } from './style.js'

const BOTH: readonly Environment[] = ['production', 'sandbox']

export interface SigningKeys {
  /** The time from the publication of a key to its first signature, such as `two hours`. */
  lead: string
  /** A clause that says who refuses signatures after an emergency, and for how long. */
  cost: string
  list(): Promise<VerdictKeyView[]>
  /** Resolves with the keys as they are then. */
  rotate(environments: readonly Environment[], options: { isEmergency: boolean }): Promise<VerdictKeyView[]>
}

export function registerSigningKeys(keys: Command, { lead, cost, list, rotate }: SigningKeys): void {
  answers(
    keys.command('list').description('list the published keys of both environments and what each does now'),
    list,
    keyTable,
  )

  answers(
    keys
      .command('rotate')
      .description(`publish the next key, which signs ${lead} later; the service may be running`)
      .addOption(
        new Option('--environment <name>', 'only this environment; default: both').choices([...BOTH]),
      )
      .option(
        '--emergency',
        `for a key that somebody else may know: remove all present keys and sign with a new one at once; ${cost}`,
      ),
    ({ environment, emergency: isEmergency = false }: { environment?: Environment; emergency?: boolean }) =>
      rotate(environment ? [environment] : BOTH, { isEmergency }),
    keyTable,
  )
}

function keyTable(views: readonly VerdictKeyView[]): string {
  return listing(
    ['KEY', 'ENVIRONMENT', 'STATE', 'SIGNS FROM', 'PUBLISHED UNTIL'],
    views.map(({ kid, environment, state, signs_from, published_until }) => [
      kid,
      environment,
      state,
      signs_from,
      published_until ?? '–',
    ]),
  )
}
