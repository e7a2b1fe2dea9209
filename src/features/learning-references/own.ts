/** The commands of references that learn, which are known without loading them. */
import type { OwnParts } from '../feature.js'

export const LEARNING_REFERENCES: OwnParts = {
  commands: [
    {
      parent: 'user',
      after: 'show',
      usage: 'undo-ageing <tenant> [user]',
      description: 'restore references as they were enrolled: of a user, or with --all of every user',
      load: async () => (await import('./undo-ageing-command.js')).registerUndoAgeingCommand,
    },
  ],
}
