/** Keys of the service. */
import { bytes, declareTable, environment, integer, type Row, real, text } from '../table.js'

/** The service's keys, sealed under one master key. */
export const KEYRING = declareTable({
  name: 'keyring',
  columns: {
    /** Id of the master key. */
    masterKeyId: text,
    sealed: bytes,
    createdAt: integer,
    /** How often the working keys were changed: users' keys of a backup fit only copies of their own generation. */
    generation: integer.with('DEFAULT 0'),
  },
  key: ['masterKeyId'],
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'own key',
})
export type KeyringRecord = Row<typeof KEYRING>

/**
 * A key whose public half checks the verdicts of an environment. Its state follows from these times, so that all services agree on it:
 * published from `publishedAt`, signing from `signsFrom` until the next key's `signsFrom`, and gone at `goneAt`.
 */
export const VERDICT_KEY = declareTable({
  name: 'verdict_key',
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
export type VerdictKeyRecord = Row<typeof VERDICT_KEY>

/** The change of the installation from one model pack to another. */
export const MODEL_MIGRATION = declareTable({
  name: 'model_migration',
  columns: {
    from: text.named('from_model'),
    to: text.named('to_model'),
    startedAt: integer,
    /** Strictest false match rate at which a verify adds a template; null for a tenth of the rate in force. */
    strictFmr: real.orNull,
    /** Share of a tenant's users, over 0 to 1, at which the decision moves automatically; null for never. */
    atCoverage: real.orNull,
    /** When the decision moves for every tenant automatically; null for never. */
    atTime: integer.orNull,
    /** Since when templates of the old model are deleted; null before. */
    finishingAt: integer.orNull,
  },
  key: 'one',
  hasRowId: true,
  atErasure: 'kept',
  atTenantEnd: 'kept',
  expires: null,
  isCopied: true,
  sealedUnder: 'nothing',
})
export type ModelMigrationRecord = Row<typeof MODEL_MIGRATION>
