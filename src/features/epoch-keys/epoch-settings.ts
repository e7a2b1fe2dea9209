/** The settings of epoch keys. */
import { isPostgres } from '../../config/database-address.js'
import type { OwnSettings, Values } from '../../config/own-settings.js'
import { integer, path } from '../../config/parsers.js'
import { optional, setting } from '../../config/setting.js'
import { docPath } from '../../lib/doc-path.js'

const SETTINGS = {
  epochKeys: {
    ...optional(
      'EPOCH_KEYS',
      'Folder that all nodes share, for the epoch keys. Without them, backups of the database cannot be decrypted. PostgreSQL only; more at /docs/postgresql of the admin listener. Default: none.',
      path,
    ),
    holdsKeys: true,
  },
  epochHours: setting(
    'EPOCH_HOURS',
    '24',
    'Hours after which a new epoch begins. Users who were erased before it are then lost in every copy. 0: only by countersign keys rotate-epoch.',
    integer(0, 8760),
  ),
  epochRetentionHours: setting(
    'EPOCH_RETENTION_HOURS',
    '1',
    'Hours for which the key of an ended epoch is kept, for a standby that lags behind.',
    integer(0, 8760),
  ),
}

export type EpochSettings = Values<typeof SETTINGS>

export const EPOCH_SETTINGS: OwnSettings<typeof SETTINGS> = {
  group: 'Epoch keys',
  before: 'Dashboard',
  settings: SETTINGS,
  problems: ({ epochKeys }, config) =>
    epochKeys === undefined || isPostgres(config)
      ? []
      : [
          `${SETTINGS.epochKeys.variable} needs PostgreSQL: with SQLite, backups contain no data keys (${docPath('operations/keys-and-backups.md#backup-and-restore')}).`,
        ],
}
