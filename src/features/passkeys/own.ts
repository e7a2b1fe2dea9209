/** The tables and commands of passkeys, which are known without loading them. */
import { CHALLENGE } from '../challenges/table/exports.js'
import type { OwnParts } from '../feature.js'
import { PASSKEY } from './passkey-table.js'

export const PASSKEYS: OwnParts = {
  tables: [PASSKEY, CHALLENGE],
  commands: [
    {
      parent: 'tenant',
      after: 'consent-text',
      usage: 'passkeys <tenant>',
      description: 'show or change how a tenant uses passkeys; other settings stay',
      load: async () => (await import('./console/passkeys-command.js')).registerTenantPasskeys,
    },
  ],
}
