/** The secrets of a new tenant, which are shown only once. */

import { secretView } from '../../admin/key-operations.js'
import type { TenantWithLoginLink } from '../../admin/tenant-operations.js'

export function createdTenantView({ tenant, sandboxKey, signingSecret, loginLink }: TenantWithLoginLink) {
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    sandbox_key: sandboxKey,
    signing_secret: secretView(signingSecret),
    dashboard_url: loginLink,
  }
}

/** The same for people: names with their values. */
export function createdTenantRows(view: ReturnType<typeof createdTenantView>): Array<[string, string]> {
  return [
    ['Tenant id', view.tenant_id],
    ['Sandbox key', view.sandbox_key],
    ['Signing secret', view.signing_secret.secret],
    ['Signing secret id', view.signing_secret.id],
    forSdk(view.signing_secret),
    ['Dashboard', view.dashboard_url],
  ]
}

/** The line for a backend's environment: the SDKs take id and secret together. */
export function forSdk({ id, secret }: { id: string; secret: string }): [string, string] {
  return ['For the SDK', `CS_SIGNING_SECRETS=${id}:${secret}`]
}
