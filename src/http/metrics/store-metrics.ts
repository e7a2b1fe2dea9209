/** Prometheus metrics of the database: duration of commits, size, and whether it can be read and written. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { SECOND_MS } from '../../lib/clock.js'
import type { Store } from '../../storage/store.js'

const COMMIT_BUCKETS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5]

export function watchStore(
  registry: Registry,
  store: Pick<Store, 'observeCommits' | 'isHealthy' | 'isCorrupt' | 'size'>,
): void {
  const registers = [registry]
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
  new Gauge({
    name: 'countersign_store_healthy',
    help: '1 when the database can be read and written, else 0.',
    registers,
    async collect() {
      this.set((await store.isHealthy()) ? 1 : 0)
    },
  })
  new Gauge({
    name: 'countersign_store_corrupt',
    help: '1 when the database has reported that it is damaged: since the start with SQLite, in the last ten minutes with PostgreSQL.',
    registers,
    collect() {
      this.set(store.isCorrupt ? 1 : 0)
    },
  })
  new Gauge({
    name: 'countersign_store_size_bytes',
    help: 'Size of the database, and of its write-ahead log where that is a file of its own.',
    labelNames: ['file'],
    registers,
    collect() {
      const { database, log } = store.size()
      this.set({ file: 'database' }, database)
      if (log !== null) this.set({ file: 'log' }, log)
    },
  })
}
