/** The tables and commands of the OpenID provider, which are known without loading it. */
import { CAPTURE_SESSION } from '../capture-sessions/exports.js'
import type { OwnParts } from '../feature.js'
import { OPENID_CALLBACK, OPENID_CLIENT, OPENID_KEY, OPENID_STATE } from './openid-tables.js'

export const OPENID: OwnParts = {
  // A callback waits for the end of a session, and statements on a table that is not there would fail.
  tables: [CAPTURE_SESSION, OPENID_KEY, OPENID_CLIENT, OPENID_STATE, OPENID_CALLBACK],
  commands: [
    {
      after: 'policy',
      usage: 'openid',
      description: 'applications that ask the OpenID provider for a verdict',
      load: async () => (await import('./console/openid-command.js')).registerOpenIdCommands,
    },
  ],
}
