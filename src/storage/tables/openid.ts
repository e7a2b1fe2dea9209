/** The OpenID provider's keys, applications, and what it remembers of a sign-in. */
import { blindIndex, bytes, declareTable, environment, integer, ofTenant, type Row, text } from '../table.js'

/** Keys that sign the ID tokens of the OpenID provider, in the form of those that sign verdicts. */
export const OPENID_KEY = declareTable({
  name: 'openid_key',
  columns: {
    /** The `kid` of the signatures. */
    id: text,
    environment,
    /** The key as a JWK, or its public half and the place of the private one. */
    sealed: bytes,
    publishedAt: integer,
    signsFrom: integer,
    /** When the key leaves the published set; null until a next key is published. */
    goneAt: integer.orNull,
  },
  key: ['id'],
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: { at: 'goneAt' },
  isCopied: true,
  sealedUnder: { key: 'secrets', column: 'sealed' },
})

/** An application that may ask the OpenID provider for a verdict. */
export const OPENID_CLIENT = declareTable({
  name: 'openid_client',
  columns: {
    id: text,
    tenantId: ofTenant,
    environment,
    /** API key in whose name the provider calls the API for this client. */
    keyId: text,
    /** Sealed JSON of the client's settings. */
    sealed: bytes,
    createdAt: integer,
  },
  key: ['id'],
  indexes: {
    openid_client_of_tenant: '(tenant_id)',
  },
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'deleted',
  expires: null,
  isCopied: true,
  sealedUnder: { key: 'secrets', column: 'sealed' },
})
export type OpenIdClientRecord = Row<typeof OPENID_CLIENT>

/** State of the OpenID provider between two requests of one sign-in: a pushed request, an interaction, a code. */
export const OPENID_STATE = declareTable({
  name: 'openid_state',
  columns: {
    /** SHA-256 of kind and id: a copy of the database has no code that could be redeemed. */
    lookup: bytes,
    /** SHA-256 of the grant with which it is deleted; null for none. */
    grantId: bytes.orNull,
    /** Blind index of the user whom it names, and with whom it is erased; null for none. */
    blindIndex: bytes.orNull.named('user_lookup'),
    /** Sealed under a key made of the id, which the database does not hold. */
    sealed: bytes,
    expiresAt: integer,
    /** When a code or a pushed request was used; null before. */
    usedAt: integer.orNull,
  },
  key: ['lookup'],
  indexes: {
    openid_state_grant: '(grant_id) WHERE grant_id IS NOT NULL',
    openid_state_user: '(user_lookup) WHERE user_lookup IS NOT NULL',
    openid_state_expiry: '(expires_at)',
  },
  hasRowId: true,
  atErasure: 'deleted',
  atTenantEnd: 'kept',
  expires: { at: 'expiresAt' },
  isCopied: true,
  sealedUnder: 'own key',
})
export type OpenIdStateRecord = Row<typeof OPENID_STATE>

/** A request of an identity provider whose result is reported to that provider. */
export const OPENID_CALLBACK = declareTable({
  name: 'openid_callback',
  columns: {
    /** SHA-256 of the provider and of the id of its request: no request is taken twice. */
    request: bytes,
    tenantId: text,
    /** Capture session whose end is reported; null where no person was asked. */
    sessionId: text.orNull,
    /** Blind index of the user with whom it is erased; null where no person was asked. */
    blindIndex: blindIndex.orNull,
    /** Sealed JSON of what was asked and where the result goes. */
    sealed: bytes,
    /** Attempts to report the result so far. */
    attempts: integer,
    /** When the result may be reported next; null where nothing is left to report. */
    nextAt: integer.orNull,
    expiresAt: integer,
  },
  key: ['request'],
  indexes: {
    openid_callback_next: '(next_at) WHERE next_at IS NOT NULL',
    openid_callback_session: '(session_id) WHERE session_id IS NOT NULL',
    openid_callback_user: '(lookup) WHERE lookup IS NOT NULL',
    openid_callback_of_tenant: '(tenant_id)',
    openid_callback_expiry: '(expires_at)',
  },
  hasRowId: true,
  atErasure: 'deleted',
  atTenantEnd: 'deleted',
  expires: { at: 'expiresAt' },
  isCopied: true,
  sealedUnder: 'data key',
})
export type OpenIdCallbackRecord = Row<typeof OPENID_CALLBACK>
