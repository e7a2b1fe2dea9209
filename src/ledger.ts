/** The books: database, keys, tenants, users and audit log, and what can be done to them, without the engine and the listeners. All that most commands need. */
import { AuditLog } from './audit/audit-log.js'
import { type Clock, systemClock } from './clock.js'
import { type Config, ConfigError, sqliteFile } from './config.js'
import { loadMasterKey, masterKeyId } from './crypto/master-key.js'
import { deriveKeys, openKeys, type ServiceKeys, sealKeys } from './crypto/service-keys.js'
import { Operations } from './operations/operations.js'
import { SqliteStore } from './storage/sqlite-store.js'
import type { Store } from './storage/store.js'
import { SubjectVault } from './subjects/subject-vault.js'
import { SigningSecrets } from './tenancy/signing-secrets.js'
import { Tenancy } from './tenancy/tenancy.js'

export interface Ledger {
  store: Store
  keys: ServiceKeys
  secrets: SigningSecrets
  tenancy: Tenancy
  audit: AuditLog
  vault: SubjectVault
  operations: Operations
}

/** @throws ConfigError when the master key is not the database's; StoreOpenError */
export async function openLedger(config: Config, clock: Clock = systemClock): Promise<Ledger> {
  const masterKey = loadMasterKey(config)
  const store: Store = SqliteStore.open(sqliteFile(config))
  try {
    const keys = (await findKeys(store, masterKey)) ?? (await firstKeys(store, masterKey, clock))
    const secrets = new SigningSecrets(keys.secrets, clock)
    const tenancy = new Tenancy(store, secrets, clock, config)
    const audit = new AuditLog(keys.audit, clock)
    const vault = new SubjectVault(keys, clock)
    const operations = new Operations({ store, audit, tenancy, secrets, vault, clock })
    return { store, keys, secrets, tenancy, audit, vault, operations }
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Null for a database that has no keyring yet. */
async function findKeys(store: Store, masterKey: Buffer): Promise<ServiceKeys | null> {
  const keyrings = await store.read.keyrings()
  if (keyrings.length === 0) return null
  const id = masterKeyId(masterKey)
  const keyring = keyrings.find((one) => one.masterKeyId === id)
  if (!keyring)
    throw wrongKey(
      `it is sealed under master key ${keyrings.map((one) => one.masterKeyId).join(' or ')}, not ${id}`,
    )
  return openKeys(keyring.sealed, masterKey, id)
}

/** A new database, or one from before there were keyrings, whose keys were derived from the master key each time. */
async function firstKeys(store: Store, masterKey: Buffer, clock: Clock): Promise<ServiceKeys> {
  const keys = deriveKeys(masterKey)
  const tenants = await store.read.tenants()
  if (tenants[0])
    await new SigningSecrets(keys.secrets, clock).active(store.read, tenants[0].id).catch(() => {
      throw wrongKey('its secrets are sealed under another master key')
    })
  const id = masterKeyId(masterKey)
  const audit = new AuditLog(keys.audit, clock)
  await store.transaction(async (tx) => {
    await tx.putKeyring({ masterKeyId: id, sealed: sealKeys(keys, masterKey, id), createdAt: clock.now() })
    for (const tenant of tenants) await audit.adopt(tx, tenant.id)
  })
  return keys
}

function wrongKey(why: string): ConfigError {
  return new ConfigError(`The master key does not open this database: ${why}.`)
}
