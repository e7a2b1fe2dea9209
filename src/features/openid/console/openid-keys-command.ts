/** `countersign openid keys`: lists and rotates the keys that sign ID tokens. */
import type { Command } from 'commander'
import type { Core } from '../../../admin/core.js'
import { verdictKeyViews } from '../../../admin/views.js'
import { COMMAND_LINE } from '../../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { registerSigningKeys } from '../../../cli/lib/signing-keys.js'
import { systemClock } from '../../../lib/clock.js'
import { OpenIdKeyRotation } from '../openid-key-rotation.js'
import { openIdKeyReader } from '../openid-tables.js'

export function registerOpenIdKeysCommands(openid: Command, { withCore }: CommandHost): void {
  registerSigningKeys(openid.command('keys').description('list and rotate the keys that sign ID tokens'), {
    lead: 'two days',
    cost: 'relying parties refuse ID tokens until they have read it',
    list: () => withCore(viewsOf),
    rotate: (environments, options) =>
      withCore(async (core) => {
        const rotation = new OpenIdKeyRotation({ ...core, clock: systemClock })
        await rotation.rotate(environments, COMMAND_LINE, options)
        return viewsOf(core)
      }),
  })
}

/** The provider's keys have rows of the same form as those of verdicts. */
async function viewsOf({ store: { read } }: Core) {
  return verdictKeyViews(await read.statements(openIdKeyReader).all(), systemClock.now())
}
