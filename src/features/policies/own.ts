/** The tables and commands of policies, which are known without loading them. */
import type { OwnParts } from '../feature.js'
import { APPROVAL } from './approval-table.js'
import { POLICY_VERSION, RETENTION_START } from './policy-table.js'

export const POLICIES: OwnParts = {
  tables: [POLICY_VERSION, APPROVAL, RETENTION_START],
  commands: [
    {
      after: 'user',
      usage: 'policy',
      description: "a tenant's policy: what an approval of an action needs",
      load: async () => (await import('./policy-command.js')).registerPolicyCommands,
    },
  ],
}
