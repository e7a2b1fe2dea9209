/** `countersign verdict-keys`: lists and rotates the keys whose public halves check verdicts. */
import type { Command } from 'commander'
import type { CommandCore, CommandHost } from '../../cli/lib/feature-command.js'
import { registerSigningKeys } from '../../cli/lib/signing-keys.js'
import { configuredSigner } from './external-signer.js'
import { VERDICT_KEYS } from './signing-key-table.js'
import { signingKeyViews } from './signing-keys.js'
import { VerdictKeyRotation } from './verdict-key-rotation.js'

export function registerVerdictKeysCommands(verdictKeys: Command, { withCore }: CommandHost): void {
  registerSigningKeys(verdictKeys, {
    lead: 'two hours',
    cost: 'verdicts of the last minutes are refused',
    list: () => withCore(viewsOf),
    rotate: (environments, options) =>
      withCore(async (core, config) => {
        const external = configuredSigner(config)
        const rotation = new VerdictKeyRotation({ ...core, external })
        await rotation.rotate(environments, core.actor, options)
        return viewsOf(core)
      }),
  })
}

const viewsOf = async ({ store: { read }, clock }: CommandCore) =>
  signingKeyViews(await read.statements(VERDICT_KEYS.reader).all(), clock.now())
