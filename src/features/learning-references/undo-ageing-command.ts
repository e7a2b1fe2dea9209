/** `countersign user undo-ageing`: restores references that have taken captures in as they were enrolled. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { action, type OutputOptions, print, UsageError } from '../../cli/lib/output.js'
import { counted } from '../../cli/lib/style.js'
import { undoAgeing } from './undo-ageing.js'

export function registerUndoAgeingCommand(undo: Command, { withCore }: CommandHost): void {
  undo
    .option('--all', 'restore the references of every user of the tenant')
    .option('--json', 'print JSON')
    .action(
      action(
        async (tenant: string, userId: string | undefined, options: OutputOptions & { all?: boolean }) => {
          if ((userId !== undefined) === (options.all === true))
            throw new UsageError('wrong_usage', 'Name a user, or give --all.')
          const restored = await withCore(async (core) =>
            undoAgeing(core, await core.tenancy.find(tenant), COMMAND_LINE, userId ?? null),
          )
          print(
            options,
            { user_id: userId ?? null, restored },
            () => `Restored ${counted(restored, 'reference')} of ${tenant} as enrolled.`,
          )
        },
      ),
    )
}
