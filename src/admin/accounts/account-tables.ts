/** People who sign in to the dashboard: names, links, second factors and sessions. */
import {
  bytes,
  declareTable,
  integer,
  LASTING,
  ofTenant,
  type Row,
  type Table,
  text,
} from '../../storage/table.js'

/** Columns of those who sign in under a name. */
const named = { name: text.with('UNIQUE'), role: text.oneOf('admin', 'viewer') }
const times = {
  createdAt: integer,
  /** When the person last signed in; null, like the method, before the first time. */
  lastSignInAt: integer.orNull,
  lastSignInBy: text.oneOf('password', 'oidc').orNull,
}

/** Operators of the installation, who have names and roles. The operator's password belongs to none of them. */
export const OPERATOR = declareTable({
  name: 'operator',
  columns: {
    id: text,
    ...named,
    /** Hash as `hashPassword` makes it. */
    passwordHash: text,
    ...times,
  },
  key: ['id'],
  ...LASTING,
  sealedUnder: 'nothing',
})

/** People of tenants. They have a table of their own because earlier versions treat everybody in `operator` as an operator. */
export const PERSON = declareTable({
  name: 'person',
  columns: {
    id: text,
    tenantId: ofTenant,
    ...named,
    /** Null for a person who has not chosen a password. */
    passwordHash: text.orNull,
    /** `provider` for a person of a tenant who is let in only by the provider's groups. */
    origin: text.oneOf('invited', 'provider'),
    ...times,
  },
  key: ['id'],
  indexes: {
    person_of_tenant: '(tenant_id, name)',
  },
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  sealedUnder: 'nothing',
})
/** A person who signs in to the dashboard under a name. Names are unique in the whole installation. */
export interface PersonRecord extends Omit<Row<typeof PERSON>, 'tenantId'> {
  /** The tenant to which the person belongs; null for an operator of the installation. */
  tenantId: string | null
}
export type PersonRole = PersonRecord['role']
/** How a person authenticated: by password, or by an OpenID provider. */
export type SignInMethod = NonNullable<PersonRecord['lastSignInBy']>

/** A one-time link that signs a tenant in to the dashboard. */
export const LOGIN_LINK = declareTable({
  name: 'login_link',
  columns: {
    /** SHA-256 of the token. */
    hash: bytes,
    tenantId: ofTenant,
    expiresAt: integer,
  },
  key: ['hash'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt' },
  withoutRowId: true,
  sealedUnder: 'nothing',
})
export type LoginLinkRecord = Row<typeof LOGIN_LINK>

/** The second factor of a person: the secret that makes its codes, and its recovery codes. */
export const SECOND_FACTOR = declareTable({
  name: 'second_factor',
  columns: {
    /** Id of the person; `operator` for the operator without a name. */
    id: text,
    /** The secret of the second factor, sealed. */
    sealed: bytes,
    /** JSON: hashes of the recovery codes that were not used yet. */
    recovery: text,
    /** Number of the 30-second step whose code was last accepted; null before the first. */
    lastStep: integer.orNull,
    /** When a first code was confirmed, from which on the factor is in force; null before. */
    enrolledAt: integer.orNull,
  },
  key: ['id'],
  atErasure: 'kept',
  atTenantEnd: { where: 'id IN (SELECT id FROM person WHERE tenant_id IN (@tenants))' },
  expires: null,
  sealedUnder: { key: 'secrets', column: 'sealed' },
})
export type SecondFactorRecord = Row<typeof SECOND_FACTOR>

/** One-time links that sign an operator in, made at the command line. */
export const OPERATOR_LINK = declareTable({
  name: 'operator_link',
  columns: {
    /** SHA-256 of the token. */
    hash: bytes,
    /** Id of the person; null for the operator without a name. */
    personId: text.with('REFERENCES operator (id) ON DELETE CASCADE').orNull.named('operator_id'),
    expiresAt: integer,
  },
  key: ['hash'],
  ...LASTING,
  sealedUnder: 'nothing',
})

/** One-time links by which a person of a tenant signs in first. */
export const PERSON_LINK = declareTable({
  name: 'person_link',
  columns: {
    /** SHA-256 of the token. */
    hash: bytes,
    tenantId: ofTenant,
    personId: text.with('REFERENCES person (id)'),
    expiresAt: integer,
  },
  key: ['hash'],
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  sealedUnder: 'nothing',
})
/** A one-time link that signs a person in to the dashboard without a password. */
export interface PersonLinkRecord extends Omit<Row<typeof PERSON_LINK>, 'tenantId' | 'personId'> {
  /** The person's tenant; null for an operator. */
  tenantId: string | null
  /** Id of the person; null for the operator without a name. */
  personId: string | null
}

/**
 * The session of a tenant's person names only the person, neither a tenant nor an operator. Earlier versions then find nobody signed in,
 * and give no session more rights than its person has.
 */
export const DASHBOARD_SESSION = declareTable({
  name: 'dashboard_session',
  columns: {
    /** SHA-256 of the cookie's token. */
    hash: bytes,
    /** Id of the tenant; null for an operator. */
    tenantId: ofTenant.orNull,
    operatorId: text.with('REFERENCES operator (id)').orNull,
    tenantPersonId: text.with('REFERENCES person (id)').orNull.named('person_id'),
    /** When the session ends unless it is used before. */
    expiresAt: integer,
    /** When the session ends even if it is used. Null, like all fields below, for a session that an earlier version began. */
    endsAt: integer.orNull,
    createdAt: integer.orNull,
    lastUsedAt: integer.orNull,
    /** When the person last authenticated; also null when an OpenID provider did not report it. */
    authenticatedAt: integer.orNull,
    /** The `enrolledAt` of the second factor of which the person gave a code; null when the person gave none. */
    secondFactorAt: integer.orNull,
    method: text.as<'link' | 'password' | 'oidc'>().orNull,
    /** Source address at the sign-in. */
    address: text.orNull,
    /** User agent of the browser at the sign-in. */
    browser: text.orNull,
  },
  key: ['hash'],
  indexes: {
    dashboard_session_of_tenant: '(tenant_id)',
  },
  atErasure: 'kept',
  // The sessions of its people name only the person.
  atTenantEnd: {
    where: 'tenant_id IN (@tenants) OR person_id IN (SELECT id FROM person WHERE tenant_id IN (@tenants))',
  },
  expires: { at: 'expiresAt' },
  withoutRowId: true,
  sealedUnder: 'nothing',
})
/** A session of somebody who is signed in to the dashboard. */
export interface SessionRecord extends Omit<Row<typeof DASHBOARD_SESSION>, 'operatorId' | 'tenantPersonId'> {
  /** Id of the person; null for a session that a tenant's login link or the operator's password began, which give no name. */
  personId: string | null
}
/** How a session began: by a login link, the password, or an OpenID provider. */
export type SessionMethod = NonNullable<SessionRecord['method']>

/** Each comes after those that it refers to, or whose rows say which of its own belong to a tenant. */
export const ACCOUNT_TABLES: readonly Table[] = [
  OPERATOR,
  PERSON,
  LOGIN_LINK,
  SECOND_FACTOR,
  OPERATOR_LINK,
  PERSON_LINK,
  DASHBOARD_SESSION,
]
