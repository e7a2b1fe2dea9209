/** Prometheus metrics of the database: duration of commits, size, and whether it can be read and written. */
import { Counter, Histogram, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'
import { gaugesOf } from './gauges.js'

const COMMIT_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function watchStore(
  registry: Registry,
  store: Pick<Store, 'observeCommits' | 'isHealthy' | 'isCorrupt' | 'size'>,
): void {
  const registers = [registry]
  const gauge = gaugesOf(registry)
  const commits = new Histogram({
    name: 'countersign_store_commit_duration_seconds',
    help: 'Time of one commit, from the write lock to the disk; transactions can share one.',
    buckets: COMMIT_BUCKETS,
    registers,
  })
  const transactions = new Counter({
    name: 'countersign_store_transactions_total',
    help: 'Transactions committed.',
    registers,
  })
  store.observeCommits(({ durationMs, transactions: count }) => {
    commits.observe(durationMs / SECOND_MS)
    transactions.inc(count)
  })
  gauge('countersign_store_healthy', '1 when the database can be read and written, else 0.', async () =>
    Number(await store.isHealthy()),
  )
  gauge(
    'countersign_store_corrupt',
    '1 when the database has reported that it is damaged: since the start with SQLite, in the last ten minutes with PostgreSQL.',
    () => Number(store.isCorrupt),
  )
  gauge(
    'countersign_store_size_bytes',
    'Size of the database, and of its write-ahead log where that is a file of its own.',
    () => {
      const { database, log } = store.size()
      return [[{ file: 'database' }, database], ...(log === null ? [] : [[{ file: 'log' }, log] as const])]
    },
    ['file'],
  )
}
