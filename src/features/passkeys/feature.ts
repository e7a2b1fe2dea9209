/** Passkeys: a second factor next to the face, bound to the same action. */
import type { Feature } from '../feature.js'
import { passkeyRoutes } from './console/console-routes.js'
import {
  beginPasskeyAssertion,
  beginPasskeyAssertionDescription,
} from './endpoints/begin-passkey-assertion.js'
import {
  beginPasskeyRegistration,
  beginPasskeyRegistrationDescription,
} from './endpoints/begin-passkey-registration.js'
import {
  cancelPasskeyRecovery,
  cancelPasskeyRecoveryDescription,
  listPasskeys,
  listPasskeysDescription,
  revokePasskey,
  revokePasskeyDescription,
} from './endpoints/kept-passkeys.js'
import { registerPasskey, registerPasskeyDescription } from './endpoints/register-passkey.js'
import { challengePart, enrollPart, userPart, verifyPart } from './parts.js'
import { passkeyServices } from './passkey-services.js'
import { SETTINGS_ERRORS } from './passkey-settings.js'

export const passkeys: Feature = {
  descriptions: [
    beginPasskeyRegistrationDescription,
    registerPasskeyDescription,
    listPasskeysDescription,
    beginPasskeyAssertionDescription,
    cancelPasskeyRecoveryDescription,
    // Behind the addresses with a word where this one has a parameter: the first that fits is taken.
    revokePasskeyDescription,
  ],
  parts: { verify: verifyPart, enroll: enrollPart, challenge: challengePart, user: userPart },
  statuses: SETTINGS_ERRORS,
  attach: (host) => ({
    console: passkeyRoutes(host),
    endpoints(services) {
      const own = passkeyServices(services)
      return [
        beginPasskeyRegistration(own),
        registerPasskey(own),
        listPasskeys(own),
        beginPasskeyAssertion(own),
        cancelPasskeyRecovery(own),
        revokePasskey(own),
      ]
    },
  }),
}
