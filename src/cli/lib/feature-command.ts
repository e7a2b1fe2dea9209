/** A command that a feature adds to the command line. */
import type { Command } from 'commander'
import type { AdministeredCore } from '../../admin/administration.js'
import type { KeyParts } from '../../admin/core.js'
import type { Actor } from '../../audit/audited-unit-of-work.js'
import type { Config } from '../../config/config.js'
import type { Clock } from '../../lib/clock.js'
import type { Database } from '../../storage/database.js'
import type { TenantRecord } from '../../storage/records.js'
import type { SharedStore } from '../../storage/store.js'
import type { Table } from '../../storage/table.js'

export interface FeatureCommand {
  /** Name and arguments, in the syntax of commander. */
  readonly usage: string
  /** The command under which it stands, such as `tenant`; by default it stands on its own. */
  readonly parent?: string
  /** The command behind which help and documents show it; by default it is the last. */
  readonly after?: string
  readonly description: string
  /** Imports the file that defines the command's options and work. Called only for the command that is run. */
  load(): Promise<(command: Command, host: CommandHost) => void>
}

export interface CommandCore extends AdministeredCore {
  /** The operator: anyone who can run the command line has the machine. */
  actor: Actor
  clock: Clock
}

type TenantWork<T> = (core: CommandCore, tenant: TenantRecord, config: Config) => Promise<T>

/** The parts of the command line that a feature cannot import. */
export interface CommandHost {
  /** Reads the configuration. @throws ConfigError */
  loadConfig(): Promise<Config>
  /** Opens the database for one command and closes it again. @throws CommandError database_missing, master_key_missing */
  withCore<T>(
    work: (core: CommandCore, config: Config) => Promise<T>,
    /** Whether data keys stay wrapped as they are, and no key outside of the database is needed. Default false. */
    options?: { withoutDataKeys?: boolean },
  ): Promise<T>
  /** Works on a tenant. @throws CommandError as `withCore`; TenancyError tenant_not_found */
  onTenant<T>(name: string, work: TenantWork<T>): Promise<T>
  /** Works on a tenant that is not deleted. @throws TenancyError tenant_deleted, too */
  onLiveTenant<T>(name: string, work: TenantWork<T>): Promise<T>
  /** The configured database, for a command that opens it otherwise. */
  databaseOf(config: Config): Promise<Database>
  /** The tables of all features. */
  readonly tables: readonly Table[]
  /** Reads the keys outside of a database that the command opened itself. @throws ConfigError where one is missing */
  openDataKeys(parts: KeyParts): Promise<void>
  /**
   * Copies the operator's password to where another database keeps it. @param from null for SQLite, whose password is in a file
   * @returns whether there was one @throws ConfigError
   */
  moveOperatorPassword(config: Config, from: KeptPassword | null, to: KeptPassword | null): Promise<boolean>
}

export function onTenants(withCore: CommandHost['withCore']): Pick<CommandHost, 'onTenant' | 'onLiveTenant'> {
  return {
    onTenant: (name, work) =>
      withCore(async (core, config) => work(core, await core.tenancy.find(name), config)),
    onLiveTenant: (name, work) =>
      withCore(async (core, config) => work(core, await core.tenancy.findLive(name), config)),
  }
}

type KeptPassword = Pick<SharedStore, 'operatorPassword' | 'keepOperatorPassword'>
