/** The tables and commands of the OpenID provider, and what it asks of settings, which are known without loading it. */
import { SETTINGS } from '../../config/config.js'
import { originOf } from '../../config/listener-settings.js'
import type { OwnSettings } from '../../config/own-settings.js'
import { safeOrigin } from '../../tenants/safe-origin.js'
import { CAPTURE_SESSION } from '../capture-sessions/exports.js'
import type { OwnParts } from '../feature.js'
import { OPENID_CALLBACK, OPENID_CLIENT, OPENID_KEYS, OPENID_STATE } from './openid-tables.js'

const LISTENER: OwnSettings = {
  group: 'Addresses and TLS',
  settings: {},
  problems(_, config) {
    const problems: string[] = []
    if (config.openidListen !== undefined && config.captureListen === undefined)
      problems.push(
        `${SETTINGS.openidListen.variable} needs ${SETTINGS.captureListen.variable}: the OpenID provider sends people to the hosted capture page. Set an address for the page, or leave the provider out.`,
      )
    const provider = originOf(config, 'openid')
    if (provider !== null && safeOrigin(provider) === null)
      problems.push(
        `The OpenID provider would be at ${provider}, where every sign-in fails: the capture page leads people back only to https, or to localhost. Set ${SETTINGS.openidUrl.variable} to the https address that browsers reach. For a trial on this computer, use http://localhost or http://127.0.0.1.`,
      )
    return problems
  },
}

export const OPENID: OwnParts = {
  settings: LISTENER,
  // A callback waits for the end of a session, and statements on a table that is not there would fail.
  tables: [CAPTURE_SESSION, OPENID_KEYS.table, OPENID_CLIENT, OPENID_STATE, OPENID_CALLBACK],
  commands: [
    {
      after: 'policy',
      usage: 'openid',
      description: 'applications that ask the OpenID provider for a verdict',
      load: async () => (await import('./console/openid-command.js')).registerOpenIdCommands,
    },
  ],
}
