/** `countersign migrate`: brings the schema of the database up to date without serving from it. */
import type { Command } from 'commander'
import { loadConfig } from '../config.js'
import { describeDatabase, openStore, schemas } from '../storage/open-store.js'
import { closeFilesToOthers, databaseMissing } from './ledger.js'
import { action, type OutputOptions, print } from './output.js'

export function registerMigrateCommand(command: Command): void {
  command
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      `
The first start of \`countersign serve\` does the same. No other command changes a schema. There is no way back on SQLite:
make a backup first, with the version that serves the database now.`,
    )
    .action(
      action(async (options: OutputOptions) => {
        const config = loadConfig()
        const { found, own } = await schemas(config)
        if (found === 0) throw databaseMissing(config)
        closeFilesToOthers()
        if (found < own) await (await openStore(config, { migrating: true })).close()
        const { found: now } = await schemas(config)
        const database = describeDatabase(config)
        print(options, { database, schema_before: found, schema: now }, () =>
          now === found
            ? `${database} has schema ${now}, which this version works with: nothing was changed.`
            : `${database} had schema ${found}, and has schema ${own} now.`,
        )
      }),
    )
}
