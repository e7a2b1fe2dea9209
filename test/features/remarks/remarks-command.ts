/** `countersign remarks`: the remarks about a user. */
import type { Command } from 'commander'
import { commandsOn } from '../../../src/cli/lib/command.js'
import type { CommandHost } from '../../../src/cli/lib/feature-command.js'
import { open } from '../../../src/crypto/sealed-box.js'
import { remarkReader } from './remark-table.js'

export function registerRemarksCommand(command: Command, host: CommandHost): void {
  commandsOn(host).tenantCommand(command, '<tenant> <user>', {
    async answer({ vault, store: { read }, tenant }, { user }) {
      const subject = await vault.find(read, vault.blindIndex(tenant.id, 'sandbox', user), user)
      if (!subject) return []
      const rows = await read.statements(remarkReader).of(subject.record.id)
      return rows.map((row) => open(subject.dataKey, row.sealed, row.id).toString())
    },
    text: (remarks) => remarks.join('\n'),
  })
}
