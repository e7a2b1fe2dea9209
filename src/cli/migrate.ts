/** `countersign migrate`: brings the schema of the database up to date without serving from it. */
import type { Command } from 'commander'
import { loadConfig } from '../app/configuration.js'
import { databaseOf } from '../app/database.js'
import type { Config } from '../config/config.js'
import { tablesOf } from '../features/index.js'
import type { Store } from '../storage/store.js'
import { foreignReferences } from '../users/foreign-references.js'
import { modelToServe } from './doctor/trials.js'
import { declare } from './lib/command.js'
import { note } from './lib/output.js'
import { closeFilesToOthers } from './lib/own-files.js'
import { paint } from './lib/style.js'
import { databaseMissing } from './with-core.js'

export function registerMigrateCommand(command: Command): void {
  declare(command, '', {
    help: `
The first start of \`countersign serve\` does the same. No other command changes the schema. On SQLite there is no way back:
make a backup first, with the version that serves the database now.`,
    async answer({ json }) {
      const config = loadConfig()
      const database = databaseOf(config)
      const { found, own } = await database.inspect()
      if (found === 0) throw databaseMissing(config)
      closeFilesToOthers()
      // A current schema may still lack a table of a feature.
      const store = await database.open({ migrating: found < own, tables: tablesOf() })
      const warnings = await foreignWarnings(config, store).finally(() => store.close())
      const { found: now } = await database.inspect()
      if (!json) for (const text of warnings) note(`${paint('yellow', 'warning:', process.stderr)} ${text}`)
      return { database: database.describe(), schema_before: found, schema: now, warnings }
    },
    text: ({ database, schema_before: found, schema: now }) =>
      now === found
        ? `${database} has schema ${now}, the one of this version: nothing was changed.`
        : `${database} had schema ${found}, and has schema ${now} now.`,
  })
}

async function foreignWarnings(config: Config, { read }: Pick<Store, 'read'>): Promise<string[]> {
  const served = await modelToServe(config)
  if (served === null) return []
  const warning = await foreignReferences(read, served)
  return warning === null ? [] : [warning]
}
