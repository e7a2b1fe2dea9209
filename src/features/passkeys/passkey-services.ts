/** The parts of one environment that the calls about passkeys use. */
import type { Services } from '../../api/services.js'
import { ChallengeBook } from '../challenges/exports.js'
import { type PasskeyChecks, SANDBOX_CHECKS, WEBAUTHN_CHECKS } from './checks/passkey-checks.js'
import { PasskeyVault } from './passkey-vault.js'

export interface PasskeyServices extends Services {
  passkeys: PasskeyVault
  passkeyChecks: PasskeyChecks
  challenges: ChallengeBook
}

export function passkeyServices(services: Services): PasskeyServices {
  const { vault, clock, environment } = services
  const passkeyChecks = environment === 'sandbox' ? SANDBOX_CHECKS : WEBAUTHN_CHECKS
  const challenges = new ChallengeBook(clock)
  return { ...services, passkeys: new PasskeyVault(vault, clock), passkeyChecks, challenges }
}
