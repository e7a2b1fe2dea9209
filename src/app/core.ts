/**
 * The core of an installation: database, keys, tenants, users, audit log and the operations on them, without engine and listeners.
 * Most commands need nothing else.
 */

import type { Core } from '../admin/core.js'
import { operationsOf } from '../admin/operations.js'
import { AuditLog } from '../audit/audit-log.js'
import { type Config, ConfigError } from '../config/config.js'
import { isThere } from '../config/is-there.js'
import { isKeyFileUsed, loadMasterKey, MalformedKeyError, masterKeyId } from '../crypto/master-key.js'
import { deriveKeys, newKeys, type ServiceKeys, sealKeys } from '../crypto/service-keys.js'
import type { ListedFeature } from '../features/feature.js'
import { eventsOf, FEATURES, openDataKeys, tablesOf } from '../features/index.js'
import { findKeys, wrongKey } from '../keys/find-keys.js'
import { type Clock, systemClock } from '../lib/clock.js'
import type { OpenOptions, Store } from '../storage/store.js'
import { SigningSecrets } from '../tenants/signing-secrets.js'
import { Tenancy } from '../tenants/tenancy.js'
import { TemplateVault } from '../users/template-vault.js'
import { databaseOf } from './database.js'

export interface CoreOptions extends Omit<OpenOptions, 'tables'> {
  /** The features whose tables, databases and subscribers it has; by default all. */
  features?: readonly ListedFeature[]
  /** Skips keys outside of the database, for commands that restore them: data keys of users may not open. */
  withoutDataKeys?: boolean
}

/** @throws ConfigError when the master key is not the database's, or a key outside of the database is missing; StoreOpenError */
export async function openCore(
  config: Config,
  clock: Clock = systemClock,
  { features = FEATURES, withoutDataKeys = false, ...options }: CoreOptions = {},
): Promise<Core> {
  const database = databaseOf(config, features)
  // Read the key before a database is made, so that a wrong one shows. An existing database needs its own key, never a new one.
  const given = hasMasterKey(config) || !(await database.exists()) ? await masterKeyOf(config) : null
  const store = await database.open({ ...options, tables: tablesOf(features) })
  try {
    if (!given) await assertNew(store, config)
    const masterKey = given ?? (await masterKeyOf(config))
    const keys = (await findKeys(store.read, masterKey)) ?? (await firstKeys(store, masterKey, clock))
    if (!withoutDataKeys) await openDataKeys(features, { store, keys, config })
    const secrets = new SigningSecrets(keys, clock)
    const tenancy = new Tenancy(store, secrets, clock, config)
    const audit = new AuditLog(keys, clock)
    const vault = new TemplateVault(keys, clock)
    const events = await eventsOf(features, { keys, vault, clock })
    const parts = { store, secrets, tenancy, audit, vault, events }
    return { ...parts, keys, masterKey, operations: operationsOf({ ...parts, clock }) }
  } catch (error) {
    await store.close()
    throw error
  }
}

/**
 * Reads the configured master key, as `loadMasterKey` does.
 * @throws ConfigError; for a malformed key of an existing database it names the key that the database needs
 */
export async function masterKeyOf(config: Config): Promise<Buffer> {
  try {
    return loadMasterKey(config)
  } catch (error) {
    const database = databaseOf(config)
    if (!(error instanceof MalformedKeyError) || !(await database.exists().catch(() => false))) throw error
    const found = await database.inspect().catch(() => null)
    throw error.besideDatabase(found?.masterKeys ?? [])
  }
}

function hasMasterKey(config: Config): boolean {
  return !isKeyFileUsed(config) || isThere(config.masterKeyFile)
}

/** @throws ConfigError for a database that has keys or tenants, unless another process has just made their master key */
async function assertNew(store: Store, config: Config): Promise<void> {
  const keyrings = await store.read.keyrings()
  const isNew = keyrings.length === 0 && (await store.read.tenants()).length === 0
  if (!isNew && !hasMasterKey(config))
    throw missingMasterKey(
      config,
      keyrings.map(({ masterKeyId: id }) => id),
    )
}

/** @param wanted ids of the master keys that open the database; empty where they are unknown */
export function missingMasterKey(config: Config, wanted: readonly string[]): ConfigError {
  const which = wanted.length > 0 ? ` It opens with master key ${wanted.join(' or ')} only.` : ''
  return new ConfigError(
    `There is no master key at ${config.masterKeyFile}, but there are data in ${databaseOf(config).describe()}. Put the database's key there first.${which} ` +
      'Neither COUNTERSIGN_MASTER_KEY nor COUNTERSIGN_MASTER_KEY_COMMAND is set. No new key was made, since it would not open the database.',
  )
}

/** Makes the keys of a new database, or derives those of one without keyrings, which were derived from the master key at each start. */
async function firstKeys(store: Store, masterKey: Buffer, clock: Clock): Promise<ServiceKeys> {
  const id = masterKeyId(masterKey)
  return store.transaction('installation', async (tx) => {
    // When two processes start at once, the second takes the keys that the first made.
    const made = await findKeys(tx, masterKey)
    if (made) return made
    const tenants = await tx.tenants()
    const keys = tenants[0] ? deriveKeys(masterKey) : newKeys()
    if (tenants[0])
      await new SigningSecrets(keys, clock).active(tx, tenants[0].id).catch(() => {
        throw wrongKey('its secrets are sealed under another master key')
      })
    const audit = new AuditLog(keys, clock)
    const sealed = sealKeys(keys, masterKey, id)
    await tx.putKeyring({ masterKeyId: id, sealed, createdAt: clock.now(), generation: 0 })
    for (const tenant of tenants) await audit.adopt(tx, tenant.id)
    return keys
  })
}
