/** The commands of the OpenID provider, which are known without loading it. */
import type { OwnParts } from '../feature.js'

export const OPENID: OwnParts = {
  commands: [
    {
      after: 'policy',
      usage: 'openid',
      description: 'applications that ask the OpenID provider for a verdict',
      load: async () => (await import('./console/openid-command.js')).registerOpenIdCommands,
    },
  ],
}
