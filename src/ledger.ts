/** The books: database, keys, tenants and audit log, without the engine and the listeners. All that most commands need. */
import { AuditLog } from './audit/audit-log.js'
import { type Clock, systemClock } from './clock.js'
import { type Config, sqliteFile } from './config.js'
import { type DerivedKeys, deriveKeys, loadMasterKey } from './crypto/master-key.js'
import { SqliteStore } from './storage/sqlite-store.js'
import type { Store } from './storage/store.js'
import { SigningSecrets } from './tenancy/signing-secrets.js'
import { Tenancy } from './tenancy/tenancy.js'

export interface Ledger {
  store: Store
  keys: DerivedKeys
  secrets: SigningSecrets
  tenancy: Tenancy
  audit: AuditLog
}

export function openLedger(config: Config, clock: Clock = systemClock): Ledger {
  const keys = deriveKeys(loadMasterKey(config))
  const store: Store = SqliteStore.open(sqliteFile(config))
  const secrets = new SigningSecrets(keys.secrets, clock)
  const tenancy = new Tenancy(store, secrets, clock, config)
  return { store, keys, secrets, tenancy, audit: new AuditLog(keys.audit, clock) }
}
