/** `countersign user undo-ageing`: restores references that have taken captures in as they were enrolled. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { answers, UsageError } from '../../cli/lib/output.js'
import { counted } from '../../cli/lib/style.js'
import { undoAgeing } from './undo-ageing.js'

export function registerUndoAgeingCommand(undo: Command, { withCore }: CommandHost): void {
  answers(
    undo.option('--all', 'restore the references of every user of the tenant'),
    async (tenant: string, userId: string | undefined, { all = false }: { all?: boolean }) => {
      if ((userId !== undefined) === all) throw new UsageError('wrong_usage', 'Name a user, or give --all.')
      const user_id = userId ?? null
      const restored = await withCore(async (core) =>
        undoAgeing(core, await core.tenancy.find(tenant), COMMAND_LINE, user_id),
      )
      return { user_id, restored }
    },
    ({ restored }, tenant) => `Restored ${counted(restored, 'reference')} of ${tenant} as enrolled.`,
  )
}
