/** Serializers: the JSON of tenants, keys and people, as the API, the command line and the dashboard show it. */
import { isoTime } from '../lib/clock.js'
import { wire } from '../lib/wire.js'
import type { ApiKeyRecord, TenantRecord } from '../storage/records.js'
import type { StoreReader } from '../storage/store.js'
import { scopesOf } from '../tenants/key-scopes.js'
import type { PersonRecord } from './accounts/account-tables.js'
import type { NamedSession } from './session-operations.js'
import type { TenantErasure } from './tenant-lifecycle.js'
import { erasedCounts } from './user-views.js'

/** The state and the contract of a tenant. The command line and the dashboard add its id and its rate under names of their own. */
export function tenantView(tenant: TenantRecord) {
  return {
    name: tenant.name,
    status: tenantStatus(tenant),
    ...wire(tenant, 'createdAt', 'suspendedAt', 'deletedAt', 'fmr', 'requireLiveness'),
    /** Greatest age of the verdict that must allow the replacement of a reference; null when none is required. */
    ...wire(tenant, 'replaceVerdictMinutes'),
    production_key: productionKeyState(tenant),
  }
}

/** The parts of a tenant that are read apart from it. @param now milliseconds since the Unix epoch */
export async function tenantParts(read: StoreReader, { id }: TenantRecord, now: number) {
  return {
    signing_secrets: (await read.signingSecrets(id, now)).map((secret) =>
      wire(secret, 'id', 'createdAt', 'validUntil'),
    ),
    /** How many users have a reference. */
    references: await read.referencesOf(id),
    audit_entries: (await read.auditHead(id))?.sequence ?? 0,
  }
}

function productionKeyState({
  productionIssuedAt,
  productionRevealedAt,
}: TenantRecord): 'not issued' | 'issued, not revealed yet' | 'revealed' {
  if (productionIssuedAt === null) return 'not issued'
  return productionRevealedAt === null ? 'issued, not revealed yet' : 'revealed'
}

function tenantStatus({ suspendedAt, deletedAt }: TenantRecord): 'active' | 'suspended' | 'deleted' {
  if (deletedAt !== null) return 'deleted'
  return suspendedAt === null ? 'active' : 'suspended'
}

export function tenantErasureView({ name, id }: TenantRecord, receipt: TenantErasure) {
  return {
    tenant_id: id,
    name,
    status: 'deleted' as const,
    ...wire(receipt, 'erasureId', 'erasedAt'),
    erased: { users: receipt.users, ...erasedCounts(receipt) },
  }
}

/** An API key. The first key of an environment and its successors have no name; null stands for all scopes, any network, and no certificate. */
export function keyView(key: ApiKeyRecord) {
  return {
    ...wire(key, 'id', 'type', 'name', 'hint'),
    scopes: scopesOf(key),
    networks: key.networks?.split(' ') ?? null,
    ...wire(key, 'certificate', 'createdAt', 'validUntil', 'revokedAt'),
  }
}

/** @param now milliseconds since the Unix epoch */
export function keyState(
  { revoked_at, valid_until }: ReturnType<typeof keyView>,
  now: number,
): 'active' | 'grace' | 'expired' | 'revoked' {
  if (revoked_at !== null) return 'revoked'
  if (valid_until === null) return 'active'
  return Date.parse(valid_until) > now ? 'grace' : 'expired'
}

/** The last sign-in is null before the first. */
export function operatorView(person: PersonRecord) {
  return wire(person, 'name', 'role', 'createdAt', 'lastSignInAt', 'lastSignInBy')
}

export function personView(person: PersonRecord) {
  const { origin, passwordHash } = person
  // A person whom only the provider's groups admit has no password either.
  const state = origin === 'provider' ? 'provider' : passwordHash === null ? 'invited' : 'active'
  return { ...operatorView(person), state } as const
}

/**
 * A session of the dashboard, without its hash. Of operator, tenant and person those are null whose session it is not. Method, times, address
 * and browser are null where an earlier version did not record them.
 */
export function sessionView(session: NamedSession) {
  return {
    ...wire(session, 'id', 'operator', 'tenant', 'person', 'method', 'createdAt', 'lastUsedAt'),
    /** Time at which the session ends unless it is used before. */
    ends_at: isoTime(session.expiresAt),
    ...wire(session, 'address', 'browser'),
  }
}
