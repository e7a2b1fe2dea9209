/** Keys of the service. */
import { bytes, declareTable, integer, LASTING, type Row, real, text } from '../table.js'

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
  ...LASTING,
  sealedUnder: 'own key',
})
export type KeyringRecord = Row<typeof KEYRING>

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
  ...LASTING,
  sealedUnder: 'nothing',
})
export type ModelMigrationRecord = Row<typeof MODEL_MIGRATION>
