/** Judges what is kept of people: how it is sealed, how it goes, and what happens to it when something fails. */
import { dirname } from 'node:path'
import { type Config, isPostgres, sqliteFile } from '../../../config/config.js'
import { isKeyFileUsed } from '../../../crypto/master-key.js'
import type { EpochSettings } from '../../epoch-keys/exports.js'
import { type Evidence, met, notMet, partly } from '../evidence.js'

/** True where one stolen disk gives the database and the key that opens it. */
function isKeyBesideDatabase(config: Config): boolean {
  if (!isKeyFileUsed(config)) return false
  const folders = [config.dataDir, ...(isPostgres(config) ? [] : [dirname(sqliteFile(config))])]
  return folders.includes(dirname(config.masterKeyFile))
}

/** Templates, secrets and kept responses in the database. */
export const sealing: Evidence = {
  judge: ({ config }) =>
    isKeyBesideDatabase(config)
      ? partly(
          'Templates are sealed by AES-256-GCM under a key of each user; the master key lies in the data folder, so one disk gives both.',
          'masterKeyFile',
        )
      : met(
          'Templates are sealed by AES-256-GCM under a key of each user, which a master key kept elsewhere wraps.',
        ),
  settings: ['masterKeyFile'],
  tests: 'users/template-vault crypto/sealed-box crypto/master-key keys/master-key-rotation',
  documents: 'operations/keys-and-backups.md#the-master-key threat-model.md#assets',
}

export const erasure: Evidence = {
  judge: ({ config }) => {
    if (!isPostgres(config))
      return met(
        "Erasure destroys the user's data key; backups hold none, so the next one completes it in all copies.",
      )
    const { epochKeys, epochHours = 0, epochRetentionHours = 0 } = config as Partial<EpochSettings>
    if (epochKeys === undefined)
      return partly(
        "Erasure destroys the user's data key; without epoch keys, archives and base backups still open with the master key.",
        'epochKeys',
      )
    return epochHours === 0
      ? partly(
          'Archives lose erased users when an operator begins an epoch; none begins automatically.',
          'epochHours',
        )
      : met(
          `Erasure destroys the user's data key; archives lose it within ${epochHours + epochRetentionHours} hours, when the epoch's key is destroyed.`,
        )
  },
  settings: ['epochKeys', 'epochHours'],
  tests: 'api/delete audit/erasure cli/backup storage/sqlite/sqlite-store cluster/erasure-archive',
  documents: 'guides/privacy.md#erasure postgresql.md#erasure',
}

export const backups: Evidence = {
  judge: ({ config, backups }) => {
    if (isPostgres(config))
      return partly("PostgreSQL's own tools make the backups, which are not looked at here.")
    if (backups === 'overdue')
      return notMet('There is no backup, or the last one is over two days old.', 'backups')
    return backups === 'current'
      ? met('No backup is overdue; a backup taken under load is whole.')
      : partly('There is no database yet. countersign backup writes a whole copy while the service runs.')
  },
  facts: ['backups'],
  tests: 'cli/backup faults/backup',
  documents: 'operations/keys-and-backups.md#backup-and-restore postgresql.md#backups',
}

/** Whether an answer that was given survives a loss of power. */
export const durability: Evidence = {
  judge: ({ config, durability }) => {
    if (!isPostgres(config)) return met('Every commit is synced before the answer (synchronous=FULL).')
    if (durability === 'unsynced')
      return notMet(
        'The server runs with fsync or full_page_writes off: a power cut can lose what was answered.',
        'durability',
      )
    return durability === 'synced'
      ? met(
          'Commits are synchronous, also where role or database say otherwise, and the server waits for its disk. A standby must be synchronous too, or a failover loses the last.',
        )
      : partly(
          'Commits are synchronous, also where role or database say otherwise; the server was not asked whether it waits for its disk.',
        )
  },
  facts: ['durability'],
  tests: 'powerloss/campaign faults/campaign storage/postgres/postgres-store',
  documents:
    'internals/campaigns.md#proving-that-nothing-is-lost postgresql.md#what-is-weaker-than-on-one-machine',
}

export const redundancy: Evidence = {
  judge: ({ config }) =>
    isPostgres(config)
      ? partly(
          'Several nodes can serve from this PostgreSQL and stand in for each other. How many do is yours.',
        )
      : notMet('SQLite has one service and one disk: nothing stands in for it.', 'database'),
  settings: ['database'],
  tests: 'cluster/two-nodes cluster/several-nodes chaos/short',
  documents: 'guides/two-nodes.md postgresql.md#several-nodes',
}
