/** The routes for the settings by which a tenant uses passkeys, and for the passkeys of a user. */
import Type from 'typebox'
import { userId } from '../../../api/schemas.js'
import type { ConsoleTable } from '../../../dashboard/lib/route.js'
import { environment, userQuestion } from '../../../dashboard/lib/user-question.js'
import type { FeatureHost } from '../../feature.js'
import { changeSettings, PasskeyOperations } from '../passkey-operations.js'
import { REGISTRATION_POLICIES, SYNCED_POLICIES } from '../passkey-settings.js'
import { inspectedPasskeyView, passkeySettingsView } from '../passkey-views.js'

/** The routes, as the pages see them. */
export interface PasskeyRoutes {
  'GET /passkeys': { answer: PasskeySettingsView }
  'POST /passkeys': { body: typeof passkeySettings; answer: PasskeySettingsView }
  'POST /users/passkeys': { body: typeof userQuestion; answer: { passkeys: PasskeyView[] } }
  'POST /users/passkeys/revoke': { body: typeof passkeyChoice; answer: { revoked: string } }
}

export type PasskeySettingsView = ReturnType<typeof passkeySettingsView>
export type PasskeyView = ReturnType<typeof inspectedPasskeyView>

const closed = { additionalProperties: false }

export const passkeySettings = Type.Object(
  {
    /** Null to use no passkeys. */
    settings: Type.Union([
      Type.Object(
        {
          rp_id: Type.String({ maxLength: 256 }),
          origins: Type.Array(Type.String({ maxLength: 2048 }), { maxItems: 64 }),
          synced: Type.Enum(SYNCED_POLICIES),
          registration: Type.Enum(REGISTRATION_POLICIES),
          roots: Type.Array(Type.String({ maxLength: 16_384 }), { maxItems: 64 }),
          recovery_hours: Type.Integer({ minimum: 0, maximum: 10_000 }),
          aaguids: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 128 }),
        },
        closed,
      ),
      Type.Null(),
    ]),
  },
  closed,
)

export const passkeyChoice = Type.Object(
  { user_id: userId, environment, passkey: Type.String({ maxLength: 64 }) },
  closed,
)

export function passkeyRoutes(host: FeatureHost): ConsoleTable<PasskeyRoutes> {
  const { audited } = host.operations
  const passkeys = new PasskeyOperations(host)
  return {
    'GET /passkeys': {
      answer: async ({ tenant }) => passkeySettingsView(tenant),
    },

    'POST /passkeys': {
      body: passkeySettings,
      async answer({ tenant, actor, input: { settings } }) {
        if (settings === null) return passkeySettingsView(await changeSettings(audited, tenant, actor, null))
        const { rp_id: rpId, recovery_hours: recoveryHours, ...others } = settings
        const changed = { rpId, recoveryHours, ...others }
        return passkeySettingsView(await changeSettings(audited, tenant, actor, changed))
      },
    },
    'POST /users/passkeys': {
      body: userQuestion,
      answer: async ({ tenant, input: { environment, user_id: userId } }) => ({
        passkeys: (await passkeys.list(tenant, { environment, userId })).map(inspectedPasskeyView),
      }),
    },

    'POST /users/passkeys/revoke': {
      body: passkeyChoice,
      async answer({ tenant, actor, input: { environment, user_id: userId, passkey } }) {
        await passkeys.revoke(tenant, actor, { environment, userId }, passkey)
        return { revoked: passkey }
      },
    },
  }
}
