/** Passkeys over the API, as a customer's backend and the browser of its user handle them. */

import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import { changeSettings } from '../../src/features/passkeys/passkey-operations.js'
import type { PasskeySettings } from '../../src/features/passkeys/passkey-settings.js'
import { SoftwareAuthenticator } from './authenticator.js'
import type { ApiClient } from './client.js'
import { operationsOf } from './operations.js'
import type { TestService, TestTenant } from './service.js'

export const RP_ID = 'bank.example'
export const ORIGIN = 'https://app.bank.example'

/** Turns passkeys on for a tenant, without asking for a verdict before a registration. */
export async function usePasskeys(
  { service }: TestService,
  { name }: Pick<TestTenant, 'name'>,
  changes: Partial<PasskeySettings> = {},
): Promise<void> {
  const { tenancy } = service.core
  const { audited } = operationsOf(service)
  await changeSettings(audited, await tenancy.find(name), COMMAND_LINE, {
    rpId: RP_ID,
    origins: [ORIGIN],
    synced: 'swk',
    registration: 'backend',
    recoveryHours: 24,
    roots: [],
    aaguids: [],
    ...changes,
  })
}

export const passkeysPath = (user: string, rest = '') =>
  `/v1/users/${encodeURIComponent(user)}/passkeys${rest}`

/** Registers a new passkey for an enrolled user. @returns its authenticator and the answer of the service */
export async function registered(
  client: ApiClient,
  user: string,
  authenticator = new SoftwareAuthenticator({ origin: ORIGIN }),
  fields: { verification_id?: string } = {},
) {
  const { status, body: begun, text } = await client.call('POST', passkeysPath(user, '/registration'), fields)
  if (status !== 201) throw new Error(text)
  const credential = authenticator.create(begun.options)
  const { challenge_id, nonce } = begun
  const answer = await client.call('POST', passkeysPath(user), { challenge_id, nonce, credential, ...fields })
  return { authenticator, answer, begun }
}

/** Asks for options and lets the passkey sign. @returns the field `passkey_assertion` of a verify with photos */
export async function asserted(
  client: ApiClient,
  user: string,
  action: unknown,
  authenticator: SoftwareAuthenticator,
  claims: Parameters<SoftwareAuthenticator['get']>[1] = {},
) {
  const { status, body, text } = await client.call('POST', passkeysPath(user, '/assertion'), { action })
  if (status !== 201) throw new Error(text)
  const { challenge_id, nonce, options } = body
  return { challenge_id, nonce, credential: authenticator.get(options, claims) }
}

/** The approved verify with a passkey of the user that a further registration needs. @returns its field of the registration */
export async function proven(
  client: ApiClient,
  user_id: string,
  authenticator: SoftwareAuthenticator,
  image: string,
  type = 'register_passkey',
) {
  const action = { type }
  const passkey_assertion = await asserted(client, user_id, action, authenticator)
  const { body } = await client.verify({ user_id, image, action, passkey_assertion })
  return { verification_id: body.verification_id as string }
}
