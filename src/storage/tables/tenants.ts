/** Tenants, their API keys and signing secrets. */
import {
  bytes,
  declareTable,
  environment,
  integer,
  LASTING,
  ofTenant,
  type Row,
  real,
  text,
} from '../table.js'

export const TENANT = declareTable({
  name: 'tenant',
  columns: {
    id: text,
    name: text.with('UNIQUE'),
    createdAt: integer,
    /** Rate limit of the tenant in production: sustained requests per second; `burst` is how many may come at once. */
    ratePerSecond: real,
    burst: integer,
    /** False match rate that overrides the configured one, above 0 and below 1; null for the configured rate. */
    fmr: real.orNull,
    /** Liveness checks that every capture must have passed, beyond those configured; null for none. */
    requireLiveness: text.oneOf('none', 'passive', 'active', 'both').orNull,
    /** Maximum age, in minutes, of the verdict that a replacement of the reference needs; null when it needs none. */
    replaceVerdictMinutes: integer.orNull,
    /** JSON of the settings of this tenant's hosted capture page; null when nothing was set. */
    capturePage: text.orNull,
    /** Hash of the policy that production's verdicts obey, by which `policyVersion` finds it; null for none. */
    policyHash: text.orNull,
    /** Hash of the policy that the sandbox's verdicts obey; null for none. */
    sandboxPolicyHash: text.orNull,
    /** JSON of the tenant's settings of passkeys; null while the tenant uses none. */
    passkeys: text.orNull,
    /** JSON of the models of the tenant's templates, while or after the installation changed its model pack; null before. */
    models: text.orNull,
    /** Time from which verifies are compared to notice drift; null for all that are kept. */
    driftSince: integer.orNull,
    /** When the first sandbox verify was approved; null before. */
    productionIssuedAt: integer.orNull,
    /** When the first production key was revealed; null before. */
    productionRevealedAt: integer.orNull,
    /** Time since which the tenant's keys are refused; null while they are accepted. */
    suspendedAt: integer.orNull,
    /** When the tenant was deleted: users, keys and secrets are gone, the audit log stays; null for a tenant that exists. */
    deletedAt: integer.orNull,
  },
  key: ['id'],
  ...LASTING,
  sealedUnder: 'nothing',
})
export type TenantRecord = Row<typeof TENANT>

export const API_KEY = declareTable({
  name: 'api_key',
  columns: {
    id: text,
    tenantId: ofTenant,
    type: environment,
    /** SHA-256 of the key. */
    hash: bytes.with('UNIQUE'),
    /** The last four characters of the key, to tell keys apart. */
    hint: text,
    /** Name of an additional key of the tenant; null for the first key of the environment. */
    name: text.orNull,
    /** Scopes of the key, separated by blanks; null for a key without restriction. */
    scopes: text.orNull,
    /** Addresses and networks from which the key may be used, separated by blanks; null for any. */
    networks: text.orNull,
    /** The client certificate that the key needs: `sha256:` and its fingerprint, or `CN=` and its common name; null for none. */
    certificate: text.orNull,
    createdAt: integer,
    /** End of a grace period; null for no end. */
    validUntil: integer.orNull,
    revokedAt: integer.orNull,
  },
  key: ['id'],
  indexes: {
    api_key_of_tenant: '(tenant_id, created_at)',
  },
  ...LASTING,
  sealedUnder: 'nothing',
})
export type ApiKeyRecord = Row<typeof API_KEY>

export const SIGNING_SECRET = declareTable({
  name: 'signing_secret',
  columns: {
    /** The `kid` of the signatures. */
    id: text,
    tenantId: ofTenant,
    sealed: bytes,
    createdAt: integer,
    /** End of the overlap with the next secret; null for the current secret. */
    validUntil: integer.orNull,
  },
  key: ['id'],
  indexes: {
    // A tenant has one current secret, also when two rotations race.
    signing_secret_current: '(tenant_id) WHERE valid_until IS NULL',
    signing_secret_of_tenant: '(tenant_id, valid_until)',
  },
  uniqueIndexes: ['signing_secret_current'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: { at: 'validUntil' },
  sealedUnder: { key: 'secrets', column: 'sealed' },
})
export type SigningSecretRecord = Row<typeof SIGNING_SECRET>
