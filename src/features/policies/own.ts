/** The commands of policies, which are known without loading them. */
import type { OwnParts } from '../feature.js'

export const POLICIES: OwnParts = {
  commands: [
    {
      after: 'user',
      usage: 'policy',
      description: "a tenant's policy: what an approval of an action needs",
      load: async () => (await import('./policy-command.js')).registerPolicyCommands,
    },
  ],
}
