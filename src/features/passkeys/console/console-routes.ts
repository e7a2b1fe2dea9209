/** The routes for the settings by which a tenant uses passkeys, and for the passkeys of a user. */
import Type from 'typebox'
import { TenantOperations } from '../../../admin/tenant-operations.js'
import { passkeySettingsView } from '../../../admin/views.js'
import { userId } from '../../../api/schemas.js'
import type { ConsoleTable } from '../../../dashboard/lib/route.js'
import { environment, userQuestion } from '../../../dashboard/lib/user-question.js'
import type { TenantRecord } from '../../../storage/records.js'
import {
  REGISTRATION_POLICIES,
  type RegistrationPolicy,
  SYNCED_POLICIES,
  type SyncedPolicy,
} from '../../../tenants/passkey-settings.js'
import type { FeatureHost } from '../../feature.js'
import { PasskeyOperations } from '../passkey-operations.js'
import type { inspectedPasskeyView } from '../passkey-views.js'

/** The routes, as the pages see them. */
export interface PasskeyRoutes {
  'GET /passkeys': { answer: PasskeySettingsView }
  'POST /passkeys': { body: typeof passkeySettings; answer: PasskeySettingsView }
  'POST /users/passkeys': { body: typeof userQuestion; answer: { passkeys: PasskeyView[] } }
  'POST /users/passkeys/revoke': { body: typeof passkeyChoice; answer: { revoked: string } }
}

/** How a tenant uses passkeys; fields are null and lists empty where it uses none. */
export interface PasskeySettingsView {
  /** Domain to which the passkeys belong. */
  rp_id: string | null
  /** Origins of the pages that register and use passkeys. */
  origins: string[]
  synced: SyncedPolicy | null
  registration: RegistrationPolicy | null
  recovery_hours: number | null
  /** Certificates in PEM of the authorities whose attestations are believed. */
  roots: string[]
  /** Authenticators that are accepted; empty for all. */
  aaguids: string[]
}

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
  const tenants = new TenantOperations(host.operations.audited, host.tenancy, host.clock)
  const passkeys = new PasskeyOperations(host)
  return {
    'GET /passkeys': {
      answer: async ({ tenant }) => settingsView(tenant),
    },

    'POST /passkeys': {
      body: passkeySettings,
      async answer({ tenant, actor, input: { settings } }) {
        if (settings === null) return settingsView(await tenants.setPasskeys(tenant, actor, null))
        const { rp_id: rpId, recovery_hours: recoveryHours, ...others } = settings
        return settingsView(await tenants.setPasskeys(tenant, actor, { rpId, recoveryHours, ...others }))
      },
    },
    'POST /users/passkeys': {
      body: userQuestion,
      answer: async ({ tenant, input: { environment, user_id: userId } }) => ({
        passkeys: await passkeys.inspect(tenant, {
          environment,
          userId,
        }),
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

function settingsView(tenant: TenantRecord): PasskeySettingsView {
  const { tenant_id: _id, name: _name, ...view } = passkeySettingsView(tenant)
  return view
}
