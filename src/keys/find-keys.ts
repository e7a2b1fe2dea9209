/** Opens the keys of a database with the master key, and says which key it needs where that one does not open them. */
import { ConfigError } from '../config/config.js'
import { masterKeyId } from '../crypto/master-key.js'
import { openKeys, type ServiceKeys } from '../crypto/service-keys.js'
import type { StoreReader } from '../storage/store.js'

/** The keys of the database, or null where it has no keyring yet. @throws ConfigError when no keyring is sealed under this master key */
export async function findKeys(
  store: Pick<StoreReader, 'keyrings'>,
  masterKey: Buffer,
): Promise<ServiceKeys | null> {
  const keyrings = await store.keyrings()
  if (keyrings.length === 0) return null
  const id = masterKeyId(masterKey)
  const keyring = keyrings.find((one) => one.masterKeyId === id)
  if (!keyring)
    throw wrongMasterKey(
      keyrings.map((one) => one.masterKeyId),
      id,
    )
  return openKeys(keyring.sealed, masterKey, id, keyring.generation)
}

/** @param wanted ids of the master keys that open the database */
export function wrongMasterKey(wanted: readonly string[], id: string): ConfigError {
  return wrongKey(`it is sealed under master key ${wanted.join(' or ')}, not ${id}`)
}

/** @param why the key does not open it */
export function wrongKey(why: string): ConfigError {
  return new ConfigError(`The master key does not open this database: ${why}.`)
}
