/** `countersign verdict-keys`: lists and rotates the keys whose public halves check verdicts. */
import { type Command, Option } from 'commander'
import { verdictKeyViews } from '../admin/views.js'
import { COMMAND_LINE } from '../audit/audited-unit-of-work.js'
import type { Environment } from '../config/config.js'
import { systemClock } from '../lib/clock.js'
import { keyTable } from './lib/key-table.js'
import { action, type OutputOptions, print } from './lib/output.js'
import { withCore } from './with-core.js'

interface RotateOptions extends OutputOptions {
  environment?: Environment
  emergency?: boolean
}

const BOTH: readonly Environment[] = ['production', 'sandbox']

export function registerVerdictKeysCommands(verdictKeys: Command): void {
  verdictKeys
    .command('list')
    .description('list the published keys of both environments and what each does now')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        const views = await withCore(async ({ store }) =>
          verdictKeyViews(await store.read.verdictKeys(), systemClock.now()),
        )
        print(options, views, () => keyTable(views))
      }),
    )

  verdictKeys
    .command('rotate')
    .description('publish the next key, which signs two hours later; the service may be running')
    .addOption(new Option('--environment <name>', 'only this environment; default: both').choices([...BOTH]))
    .option(
      '--emergency',
      'for a key that somebody else may know: remove all present keys and sign with a new one at once; verdicts of the last minutes are refused',
    )
    .option('--json', 'print JSON')
    .action(
      action(async (options: RotateOptions) => {
        const environments = options.environment ? [options.environment] : BOTH
        const views = await withCore(async ({ store, verdictKeyRotation }) => {
          await verdictKeyRotation.rotate(environments, COMMAND_LINE, {
            isEmergency: options.emergency === true,
          })
          return verdictKeyViews(await store.read.verdictKeys(), systemClock.now())
        })
        print(options, views, () => keyTable(views))
      }),
    )
}
