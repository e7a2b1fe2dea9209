/** Settings of a feature, which only the feature reads: the configuration of the core does not name them. */
import type { Setting, ValueOf } from './setting.js'
import type { Config } from './settings.js'

export type Settings = Readonly<Record<string, Setting>>
/** Values in effect, by the names of the settings. */
export type Values<S extends Settings> = { readonly [Name in keyof S]: ValueOf<S[Name]> }

export interface OwnSettings<S extends Settings = Settings> {
  /** Heading of the settings in the documentation: one of their own, or a group of the core. */
  readonly group: string
  /** The group before which the documentation has it; by default it is the last. */
  readonly before?: string
  /** The settings by names that no other setting has. */
  readonly settings: S
  /** Variables of the configuration file with this prefix are read by a library of the feature: they are no settings. */
  readonly libraryPrefix?: string
  /** Finds what is wrong with values that were read, one sentence each. */
  problems?(values: Values<S>, config: Config): string[]
}

/** Reads the values of a feature's settings from a configuration, or from the part of it that a call has. @throws TypeError for a configuration that was read without the feature */
export function ownValues<S extends Settings>(
  { settings, group }: OwnSettings<S>,
  config: Partial<Config>,
): Values<S> {
  for (const name of Object.keys(settings))
    if (!(name in config)) throw new TypeError(`the configuration has no settings of the group ${group}`)
  return config as unknown as Values<S>
}
