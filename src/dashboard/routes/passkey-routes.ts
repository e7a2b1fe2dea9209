/** The routes for the settings by which a tenant uses passkeys. */
import { passkeySettingsView } from '../../admin/views.js'
import type { TenantRecord } from '../../storage/records.js'
import * as bodies from '../bodies.js'
import type { PasskeySettingsView } from '../contract.js'
import type { TenantTable } from './route.js'

export const PASSKEY_ROUTES = {
  'GET /passkeys': {
    answer: async ({ tenant }) => settingsView(tenant),
  },

  'POST /passkeys': {
    body: bodies.passkeySettings,
    async answer({ services, tenant, actor, input: { settings } }) {
      const { tenants } = services.core.operations
      if (settings === null) return settingsView(await tenants.setPasskeys(tenant, actor, null))
      const { rp_id: rpId, recovery_hours: recoveryHours, ...others } = settings
      return settingsView(await tenants.setPasskeys(tenant, actor, { rpId, recoveryHours, ...others }))
    },
  },
} satisfies Partial<TenantTable>

function settingsView(tenant: TenantRecord): PasskeySettingsView {
  const { tenant_id: _id, name: _name, ...view } = passkeySettingsView(tenant)
  return view
}
