/** `countersign remarks`: the remarks about a user. */
import type { Command } from 'commander'
import type { CommandHost } from '../../../src/cli/lib/feature-command.js'
import { action, type OutputOptions, print } from '../../../src/cli/lib/output.js'
import { open } from '../../../src/crypto/sealed-box.js'
import { remarkReader } from './remark-table.js'

export function registerRemarksCommand(command: Command, { withCore }: CommandHost): void {
  command.option('--json', 'print JSON').action(
    action(async (name: string, userId: string, options: OutputOptions) => {
      const remarks = await withCore(async ({ tenancy, vault, store: { read } }) => {
        const { id } = await tenancy.find(name)
        const subject = await vault.find(read, vault.blindIndex(id, 'sandbox', userId), userId)
        if (!subject) return []
        const rows = await read.statements(remarkReader).of(subject.record.id)
        return rows.map((row) => open(subject.dataKey, row.sealed, row.id).toString())
      })
      print(options, remarks, () => remarks.join('\n'))
    }),
  )
}
