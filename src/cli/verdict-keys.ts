/** `countersign verdict-keys`: lists and rotates the keys whose public halves check verdicts. */
import type { Command } from 'commander'
import type { Core } from '../admin/core.js'
import { verdictKeyViews } from '../admin/views.js'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import { systemClock } from '../lib/clock.js'
import { registerSigningKeys } from './lib/signing-keys.js'
import { withCore } from './with-core.js'

export function registerVerdictKeysCommands(verdictKeys: Command): void {
  registerSigningKeys(verdictKeys, {
    lead: 'two hours',
    cost: 'verdicts of the last minutes are refused',
    list: () => withCore(viewsOf),
    rotate: (environments, options) =>
      withCore(async (core) => {
        await core.verdictKeyRotation.rotate(environments, COMMAND_LINE, options)
        return viewsOf(core)
      }),
  })
}

const viewsOf = async ({ store }: Core) => verdictKeyViews(await store.read.verdictKeys(), systemClock.now())
