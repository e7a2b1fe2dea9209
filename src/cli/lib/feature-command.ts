/** A command that a feature adds to the command line. */
import type { Command } from 'commander'
import type { AdministeredCore } from '../../admin/administration.js'
import type { Config } from '../../config/config.js'

export interface FeatureCommand {
  /** Name and arguments, in the syntax of commander. */
  readonly usage: string
  readonly description: string
  /** Imports the file that defines the command's options and work. Called only for the command that is run. */
  load(): Promise<(command: Command, host: CommandHost) => void>
}

/** The parts of the command line that a feature cannot import. */
export interface CommandHost {
  /** Opens the database for one command and closes it again. @throws CommandError database_missing, master_key_missing */
  withCore<T>(work: (core: AdministeredCore, config: Config) => Promise<T>): Promise<T>
}
