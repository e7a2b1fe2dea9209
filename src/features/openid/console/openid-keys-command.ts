/** `countersign openid keys`: lists and rotates the keys that sign ID tokens. */
import { type Command, Option } from 'commander'
import { verdictKeyViews } from '../../../admin/views.js'
import { COMMAND_LINE } from '../../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../../cli/lib/feature-command.js'
import { keyTable } from '../../../cli/lib/key-table.js'
import { action, type OutputOptions, print } from '../../../cli/lib/output.js'
import type { Environment } from '../../../config/config.js'
import { systemClock } from '../../../lib/clock.js'
import type { Store } from '../../../storage/store.js'
import { OpenIdKeyRotation } from '../openid-key-rotation.js'
import { openIdKeyReader } from '../openid-tables.js'

interface RotateOptions extends OutputOptions {
  environment?: Environment
  emergency?: boolean
}

const BOTH: readonly Environment[] = ['production', 'sandbox']

export function registerOpenIdKeysCommands(openid: Command, { withCore }: CommandHost): void {
  const keys = openid.command('keys').description('list and rotate the keys that sign ID tokens')

  keys
    .command('list')
    .description('list the published keys of both environments and what each does now')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        const views = await withCore(({ store }) => viewsOf(store))
        print(options, views, () => keyTable(views))
      }),
    )

  keys
    .command('rotate')
    .description('publish the next key, which signs two days later; the service may be running')
    .addOption(new Option('--environment <name>', 'only this environment; default: both').choices([...BOTH]))
    .option(
      '--emergency',
      'for a key that somebody else may know: remove all present keys and sign with a new one at once; relying parties refuse ID tokens until they have read it',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (options: RotateOptions) => {
        const environments = options.environment ? [options.environment] : BOTH
        const views = await withCore(async (core) => {
          await new OpenIdKeyRotation({ ...core, clock: systemClock }).rotate(environments, COMMAND_LINE, {
            isEmergency: options.emergency === true,
          })
          return viewsOf(core.store)
        })
        print(options, views, () => keyTable(views))
      }),
    )
}

/** The provider's keys have rows of the same form as those of verdicts. */
async function viewsOf({ read }: Pick<Store, 'read'>) {
  return verdictKeyViews(await read.statements(openIdKeyReader).all(), systemClock.now())
}
