/** A tenant as the command line shows it, without secrets; those of a new tenant are shown only once. */

import { secretView } from '../../admin/key-operations.js'
import type { TenantWithLoginLink } from '../../admin/tenant-operations.js'
import { keyView, tenantParts, tenantView } from '../../admin/views.js'
import type { ApiKeyRecord, TenantRecord } from '../../storage/records.js'
import type { StoreReader } from '../../storage/store.js'
import { describeSignedRate, type SignedRate } from './tenant-options.js'

export async function withKeys(read: StoreReader, tenant: TenantRecord) {
  return {
    ...tenantSummary(tenant),
    keys: keysView(await read.apiKeys(tenant.id)),
  }
}

/** Keys without their text, but for its end. */
export function keysView(keys: readonly ApiKeyRecord[]) {
  return keys.map((key) => ({ ...keyView(key), hint: `…${key.hint}` }))
}

export function tenantSummary(tenant: TenantRecord) {
  return { tenant_id: tenant.id, ...tenantView(tenant), rate_limit_per_second: tenant.ratePerSecond }
}

type WholeTenantView = Awaited<ReturnType<typeof wholeTenantView>>

/** Includes counts and the rate that verdicts are signed with. @param now milliseconds since the Unix epoch */
export async function wholeTenantView(
  read: StoreReader,
  tenant: TenantRecord,
  { now, signed }: { now: number; signed: SignedRate },
) {
  return {
    ...(await withKeys(read, tenant)),
    ...signed,
    ...(await tenantParts(read, tenant, now)),
  }
}

/** Names with their values, for people. */
export function wholeTenantRows(view: WholeTenantView): Array<[string, string]> {
  const since = view.deleted_at ?? view.suspended_at
  return [
    ['Tenant', view.name],
    ['Tenant id', view.tenant_id],
    ['Status', since ? `${view.status} since ${since}` : view.status],
    ['Created', view.created_at],
    ['Rate limit', `${view.rate_limit_per_second}/s`],
    ['False match rate', `${view.fmr ?? 'as configured'}; ${describeSignedRate(view)}`],
    ['Liveness required', view.require_liveness ?? 'as configured'],
    [
      'Verdict to replace',
      view.replace_verdict_minutes === null
        ? 'not needed'
        : `at most ${view.replace_verdict_minutes} minutes old`,
    ],
    ['Production key', view.production_key],
    ...view.keys
      .filter(({ revoked_at }) => revoked_at === null)
      .map(({ type, name, hint, scopes, valid_until }): [string, string] => [
        `Key ${type}`,
        [
          hint,
          ...(name === null ? [] : [`named ${name}`]),
          ...(scopes === null ? [] : [`for ${scopes.join(', ')}`]),
          ...(valid_until ? [`until ${valid_until}`] : []),
        ].join(', '),
      ]),
    ...view.signing_secrets.map(({ id, valid_until }): [string, string] => [
      'Signing secret',
      valid_until ? `${id}, until ${valid_until}` : id,
    ]),
    ['References', `${view.references.production} in production, ${view.references.sandbox} in the sandbox`],
    ['Audit entries', String(view.audit_entries)],
  ]
}

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
