/** The routes for the settings by which a tenant uses passkeys, and for the passkeys of a user. */
import Type from 'typebox'
import { nullable } from '../../../api/schemas.js'
import { text, userQuestion } from '../../../dashboard/lib/bodies.js'
import { consoleRoute, READS } from '../../../dashboard/lib/route.js'
import type { FeatureHost } from '../../feature.js'
import { changeSettings, PasskeyOperations } from '../passkey-operations.js'
import { REGISTRATION_POLICIES, SYNCED_POLICIES } from '../passkey-settings.js'
import { inspectedPasskeyView, passkeySettingsView } from '../passkey-views.js'

export function passkeyRoutes(host: FeatureHost) {
  const { audited } = host.operations
  const passkeys = new PasskeyOperations(host)
  return {
    'GET /passkeys': consoleRoute({
      right: 'read',
      answer: async ({ tenant }) => passkeySettingsView(tenant),
    }),

    'POST /passkeys': consoleRoute({
      right: 'write',
      body: {
        /** Null to use no passkeys. */
        settings: nullable(
          Type.Object(
            {
              rp_id: text(256),
              origins: Type.Array(text(2048), { maxItems: 64 }),
              synced: Type.Enum(SYNCED_POLICIES),
              registration: Type.Enum(REGISTRATION_POLICIES),
              roots: Type.Array(text(16_384), { maxItems: 64 }),
              recovery_hours: Type.Integer({ minimum: 0, maximum: 10_000 }),
              aaguids: Type.Array(text(64), { maxItems: 128 }),
            },
            { additionalProperties: false },
          ),
        ),
      },
      async answer({ tenant, actor, input: { settings } }) {
        if (settings === null) return passkeySettingsView(await changeSettings(audited, tenant, actor, null))
        const { rp_id: rpId, recovery_hours: recoveryHours, ...others } = settings
        const changed = { rpId, recoveryHours, ...others }
        return passkeySettingsView(await changeSettings(audited, tenant, actor, changed))
      },
    }),

    'POST /users/passkeys': consoleRoute({
      right: 'read',
      harmless: READS,
      body: userQuestion,
      answer: async ({ tenant, input: { environment, user_id: userId } }) => ({
        passkeys: (await passkeys.list(tenant, { environment, userId })).map(inspectedPasskeyView),
      }),
    }),

    'POST /users/passkeys/revoke': consoleRoute({
      right: 'write',
      body: { ...userQuestion, passkey: text(64) },
      async answer({ tenant, actor, input: { environment, user_id: userId, passkey } }) {
        await passkeys.revoke(tenant, actor, { environment, userId }, passkey)
        return { revoked: passkey }
      },
    }),
  }
}
