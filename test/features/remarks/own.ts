/** A feature for tests, which follows the recipe: remarks about a user that a verdict counts. Its own parts are known without loading it. */
import { integer } from '../../../src/config/parsers.js'
import { setting } from '../../../src/config/setting.js'
import type { ListedFeature } from '../../../src/features/feature.js'
import { REMARK } from './remark-table.js'

export const REMARK_SETTINGS = {
  group: 'Remarks',
  settings: {
    remarkLength: setting('REMARK_LENGTH', '80', 'Longest remark, in characters.', integer(1, 1000)),
  },
}

export const remarks: ListedFeature = {
  name: 'remarks',
  settings: REMARK_SETTINGS,
  tables: [REMARK],
  commands: [
    {
      usage: 'remarks <tenant> <user>',
      description: 'print the remarks about a user of the sandbox',
      load: async () => (await import('./remarks-command.js')).registerRemarksCommand,
    },
  ],
  load: async () => (await import('./feature.js')).remarks,
}
