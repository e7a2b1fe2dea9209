/** Opens the database for one command and closes it again, whatever happens. */
import { type Config, loadConfig } from '../config.js'
import { type Ledger, openLedger } from '../ledger.js'

export async function withLedger<T>(work: (ledger: Ledger, config: Config) => Promise<T>): Promise<T> {
  const config = loadConfig()
  const ledger = await openLedger(config)
  try {
    return await work(ledger, config)
  } finally {
    await ledger.store.close()
  }
}
