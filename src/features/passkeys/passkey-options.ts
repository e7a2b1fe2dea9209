/** The options of a passkey in a challenge: to sign with the frames of a verify, or to be made with those of an enrollment. */
import type { Static } from 'typebox'
import { words } from '../../api/schemas.js'
import { SECOND_MS } from '../../lib/clock.js'
import { DomainError, invalidField } from '../../lib/domain-error.js'
import { companyOf } from '../../tenants/company.js'
import type { UserCall } from '../../verification/call.js'
import { challengeSeconds, type Purpose } from '../challenges/exports.js'
import { creationOptions, passkeyChallenge, requestOptions } from './passkey-challenge.js'
import { requiredSettings } from './passkey-proof.js'
import { assertFirstPasskey } from './passkey-registration.js'
import type { PasskeyServices } from './passkey-services.js'

/** How a capture uses a passkey. */
export const passkeyField = words(
  ['required', 'preferred', 'register'],
  'How the capture uses a passkey. For a verification: `required` for a passkey that signs for the action, `preferred` for one where the user has any. For an enrollment: `register` for a passkey that is made together with the reference. Default: no passkey.',
)

export type PasskeyUse = Static<typeof passkeyField>

/** Makes the options for the nonce and the canonical action of a challenge. */
type OptionsFor = (nonce: string, action: string | null) => Record<string, unknown> | null

/**
 * Reads what the options need, before the transaction of the challenge.
 * @returns null for a challenge without a passkey
 * @throws DomainError invalid_request, passkeys_unavailable, passkey_not_found, passkey_proof_required
 */
export async function passkeyOptions(
  { vault, store, passkeys, config }: PasskeyServices,
  { tenant, user }: Pick<UserCall<unknown>, 'tenant' | 'user'>,
  purpose: Purpose,
  use: PasskeyUse | undefined,
): Promise<OptionsFor | null> {
  if (use === undefined) return null
  if ((use === 'register') !== (purpose === 'enroll'))
    throw invalidField('passkey', `is not for the purpose "${purpose}"`)
  const settings = requiredSettings(tenant)
  const subject = await vault.find(store.read, user.blindIndex, user.id)
  const known = subject ? await passkeys.of(store.read, subject) : []
  const timeoutMs = challengeSeconds(config) * SECOND_MS
  if (use === 'register') {
    await assertFirstPasskey(store.read, passkeys, settings, subject)
    const names = { company: companyOf(tenant), user: user.id }
    return (nonce) => {
      const challenge = passkeyChallenge(nonce, null)
      return creationOptions(settings, user, { challenge, passkeys: known, names, timeoutMs })
    }
  }
  if (known.length === 0 && use === 'required') throw new DomainError('passkey_not_found')
  return (nonce, action) =>
    known.length === 0
      ? null
      : requestOptions(settings, { challenge: passkeyChallenge(nonce, action), passkeys: known, timeoutMs })
}
