/** `countersign backup`, `countersign audit verify`. */

import { existsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { withLedger } from './ledger.js'
import { action, CommandError, EXIT, type OutputOptions, print, table } from './output.js'

export function registerBackupCommand(program: Command): void {
  program
    .command('backup <file>')
    .description('write a consistent copy of the database; the service may be running')
    .option('--json', 'print JSON')
    .action(
      action(async (file: string, options: OutputOptions) => {
        if (existsSync(file))
          throw new CommandError('file_exists', `${file} exists already; a backup never overwrites.`)
        const folder = dirname(resolve(file))
        if (!existsSync(folder))
          throw new CommandError('folder_not_found', `There is no folder ${folder}; a backup makes none.`)
        await withLedger(({ store }) => store.backup(file))
        print(
          options,
          { file },
          () => `Wrote ${file}. Without the master key it opens no reference; keep that apart.`,
        )
      }),
    )
}

export function registerAuditCommands(program: Command): void {
  program
    .command('audit')
    .description('the append-only audit log')
    .command('verify')
    .description('check the hash chain of every tenant')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions) => {
        await withLedger(async ({ store, audit }) => {
          const views: Array<{ tenant_id: string; name: string; entries: number; broken_at: number | null }> =
            []
          for (const { id, name } of await store.read.tenants()) {
            const { entries, brokenAt } = await audit.verify(store.read, id)
            views.push({ tenant_id: id, name, entries, broken_at: brokenAt })
          }
          if (views.some((view) => view.broken_at !== null)) process.exitCode = EXIT.failed
          print(options, views, () =>
            table([
              ['TENANT', 'ENTRIES', 'CHAIN'],
              ...views.map((view) => [
                view.name,
                String(view.entries),
                view.broken_at === null ? 'intact' : `broken at entry ${view.broken_at}`,
              ]),
            ]),
          )
        })
      }),
    )
}
