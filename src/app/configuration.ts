/** The configuration of an installation, with the settings of the core and of the listed features. */
import {
  type Config,
  loadConfig as load,
  type Resolution,
  resolveConfig as resolve,
} from '../config/config.js'
import type { Settings } from '../config/own-settings.js'
import { SETTING_GROUPS } from '../config/settings.js'
import type { Env } from '../config/variables.js'
import type { ListedFeature } from '../features/feature.js'
import { FEATURES } from '../features/index.js'

const ownOf = (features: readonly ListedFeature[]) => features.flatMap(({ settings }) => settings ?? [])

const groups: Record<string, Settings> = { ...SETTING_GROUPS }
for (const { group, settings } of ownOf(FEATURES)) groups[group] = { ...groups[group], ...settings }

/** All settings by group, in the order of the documentation: those of the core, then those of features. */
export const ALL_SETTING_GROUPS: Readonly<Record<string, Settings>> = groups

export const ALL_SETTINGS: Settings = Object.assign({}, ...Object.values(ALL_SETTING_GROUPS))

/** Reads the environment and the configuration file that it names. */
export function resolveConfig(
  env: Env = process.env,
  features: readonly ListedFeature[] = FEATURES,
): Resolution {
  return resolve(env, ownOf(features))
}

/** @throws ConfigError naming everything that is wrong: the variable, its value and what was expected */
export function loadConfig(env: Env = process.env, features: readonly ListedFeature[] = FEATURES): Config {
  return load(env, ownOf(features))
}
