/** The configuration of an installation, with the settings of the core and of the listed features. */
import {
  type Config,
  loadConfig as load,
  type Resolution,
  resolveConfig as resolve,
} from '../config/config.js'
import type { OwnSettings, Settings } from '../config/own-settings.js'
import { SETTING_GROUPS } from '../config/settings.js'
import type { Env } from '../config/variables.js'
import type { ListedFeature } from '../features/feature.js'
import { FEATURES } from '../features/index.js'

const ownOf = (features: readonly ListedFeature[]) => features.flatMap(({ settings }) => settings ?? [])

/** The groups of the core with the settings of features, and the groups of features, in the order of the documentation. */
function settingGroups(own: readonly OwnSettings[]): Record<string, Settings> {
  const groups = new Map<string, Settings>()
  for (const [name, settings] of Object.entries(SETTING_GROUPS)) {
    for (const { group, before, settings } of own) if (before === name) groups.set(group, settings)
    groups.set(name, settings)
  }
  for (const { group, settings } of own) groups.set(group, { ...groups.get(group), ...settings })
  return Object.fromEntries(groups)
}

export const ALL_SETTING_GROUPS: Readonly<Record<string, Settings>> = settingGroups(ownOf(FEATURES))

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
