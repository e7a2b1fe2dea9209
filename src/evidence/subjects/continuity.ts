/** Judges what happens when something fails: backups, durability, a second node. */
import { isPostgres } from '../../config/config.js'
import { always, type Evidence, judged, met, notMet, partly } from '../evidence.js'

export const backups: Evidence = judged(
  ({ config, backups }) => {
    if (isPostgres(config))
      return partly("PostgreSQL's own tools make the backups, which are not looked at here.")
    if (backups === 'overdue')
      return notMet('There is no backup, or the last one is over two days old.', 'backups')
    return backups === 'current'
      ? met('No backup is overdue; a backup taken under load is whole.')
      : partly('There is no database yet. countersign backup writes a whole copy while the service runs.')
  },
  {
    facts: ['backups'],
    tests: ['test/cli/backup.test.ts', 'test/faults/backup.test.ts'],
    documents: ['operations/keys-and-backups.md#backup-and-restore', 'postgresql.md#backups'],
  },
)

/** Whether an answer that was given survives a loss of power. */
export const durability: Evidence = judged(
  ({ config, durability }) => {
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
  {
    facts: ['durability'],
    tests: [
      'test/powerloss/campaign.test.ts',
      'test/faults/campaign.test.ts',
      'test/storage/postgres/postgres-store.test.ts',
    ],
    documents: [
      'campaigns.md#proving-that-nothing-is-lost',
      'postgresql.md#what-is-weaker-than-on-one-machine',
    ],
  },
)

export const redundancy: Evidence = judged(
  ({ config }) =>
    isPostgres(config)
      ? partly(
          'Several nodes can serve from this PostgreSQL and stand in for each other. How many do is yours.',
        )
      : notMet('SQLite has one service and one disk: nothing stands in for it.', 'database'),
  {
    settings: ['database'],
    tests: [
      'test/cluster/two-nodes.test.ts',
      'test/cluster/several-nodes.test.ts',
      'test/chaos/short.test.ts',
    ],
    documents: ['guides/two-nodes.md', 'postgresql.md#several-nodes'],
  },
)

/** Whether overload and unfairness are bounded. */
export const capacity: Evidence = always(
  met(
    'Overload is refused at once, tenants wait in a fair queue, and a formula and a load test say what a machine carries.',
  ),
  {
    tests: [
      'test/faults/overload.test.ts',
      'test/faults/fairness.test.ts',
      'test/biometrics/engine/fair-queue.test.ts',
    ],
    documents: ['guides/sizing.md', 'guides/load-testing.md'],
  },
)

/** Whether recovery was tried. */
export const recovery: Evidence = always(
  partly(
    'Crashes, power cuts, full disks, lost nodes and restores are tried on the product. Try yours on your machines.',
  ),
  {
    tests: [
      'test/faults/campaign.test.ts',
      'test/powerloss/campaign.test.ts',
      'test/chaos/campaign.test.ts',
      'test/cli/backup.test.ts',
    ],
    documents: ['campaigns.md#proving-that-nothing-is-lost', 'operations/runbooks.md'],
  },
)

export const changes: Evidence = always(
  partly(
    'An upgrade is one transaction that fails whole, tried on a database of an earlier release; the changelog says what changes. Approving it is yours.',
  ),
  {
    tests: [
      'test/releases/upgrade.test.ts',
      'test/releases/commands.test.ts',
      'test/cluster/upgrade.test.ts',
    ],
    documents: ['upgrade-policy.md#upgrading', 'releasing.md'],
  },
)
