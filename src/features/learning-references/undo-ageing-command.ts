/** `countersign user undo-ageing`: restores references that have taken captures in as they were enrolled. */
import type { Command } from 'commander'
import { declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { UsageError } from '../../cli/lib/output.js'
import { counted } from '../../cli/lib/style.js'
import { undoAgeing } from './undo-ageing.js'

export function registerUndoAgeingCommand(undo: Command, { onTenant }: CommandHost): void {
  declare(undo, '<tenant> [user]', {
    options: { '--all': 'restore the references of every user of the tenant' },
    async answer({ tenant, user, all }) {
      if ((user !== undefined) === all) throw new UsageError('wrong_usage', 'Name a user, or give --all.')
      const user_id = user ?? null
      const restored = await onTenant(tenant, (core, found) => undoAgeing(core, found, core.actor, user_id))
      return { user_id, restored }
    },
    text: ({ restored }, { tenant }) =>
      `Restored ${counted(restored, 'reference')} of ${tenant} as enrolled.`,
  })
}
