/** How an environment checks the answers of authenticators: production by WebAuthn, the sandbox also by script. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'
import {
  SANDBOX_AAGUID,
  scriptedRegistration,
  scriptedSignature,
} from '../../../contract/sandbox-passkeys.js'
import { DomainError } from '../../../lib/domain-error.js'
import { fingerprintOf } from '../passkey-settings.js'
import { checkAssertion, checkRegistration, possessionOf } from './passkey-check.js'

export interface PasskeyChecks {
  registration: typeof checkRegistration
  assertion: typeof checkAssertion
}

export const WEBAUTHN_CHECKS: PasskeyChecks = { registration: checkRegistration, assertion: checkAssertion }

/** Checks of the sandbox: WebAuthn, and scripted answers whose outcome the caller chooses. The tenant's settings hold for both. */
export const SANDBOX_CHECKS: PasskeyChecks = {
  async registration(settings, response, challenge) {
    const outcome = scriptedRegistration(response as Scripted<RegistrationResponseJSON>)
    if (outcome === null) return checkRegistration(settings, response, challenge)
    if (outcome !== 'device_bound' && outcome !== 'synced') throw new DomainError(outcome)
    const isSynced = outcome === 'synced'
    const [root] = settings.roots
    const content = {
      credentialId: response.id,
      publicKey: '',
      counter: 0,
      transports: ['internal'],
      isSynced,
      isBackedUp: isSynced,
      // A tenant that lists authenticators could try nothing with one that is not listed.
      aaguid: settings.aaguids[0] ?? SANDBOX_AAGUID,
      // An authenticator that cannot leave its device is attested where the tenant believes anybody.
      ...(isSynced || !root ? {} : { attestedBy: fingerprintOf(root) }),
    }
    possessionOf(settings, content)
    return content
  },
  async assertion(settings, response, expected) {
    const outcome = scriptedSignature(response as Scripted<AuthenticationResponseJSON>)
    if (outcome === null) return checkAssertion(settings, response, expected)
    const { passkey } = expected
    const possession = possessionOf(settings, passkey)
    if (outcome !== 'accepted') throw new DomainError(outcome)
    const { isSynced, isBackedUp } = passkey
    return { counter: 0, isSynced, isBackedUp, possession }
  },
}

/** The types of WebAuthn name further fields, which neither side reads. */
type Scripted<T> = T & { type: 'public-key' }
