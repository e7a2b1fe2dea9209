/** The files of an installation that a command needs or makes. */
import type { Config } from '../../config/config.js'
import { isThere } from '../../config/is-there.js'
import { isKeyFileUsed } from '../../crypto/master-key.js'
import { CommandError } from './output.js'

/** Called for an existing database, which a new key would not open. @throws CommandError master_key_missing */
export function assertMasterKey(config: Config): void {
  if (isKeyFileUsed(config) && !isThere(config.masterKeyFile))
    throw new CommandError(
      'master_key_missing',
      `There is no master key at ${config.masterKeyFile}. Put the database's key there first.`,
    )
}

/** Makes new files (databases, logs, backups) readable by their owner only, regardless of the shell's umask. */
export function closeFilesToOthers(): void {
  process.umask(0o077)
}
