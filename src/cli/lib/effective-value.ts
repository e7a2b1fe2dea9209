/** Values of settings as they are in effect, for people and programs. */
import {
  adminUrl,
  type Config,
  environmentUrl,
  type ListenAddress,
  SETTINGS,
  type SettingName,
} from '../../config/config.js'
import type { Settings } from '../../config/own-settings.js'
import { isKeyFileUsed } from '../../crypto/master-key.js'

const MASK = '********'

/** Settings whose value in effect is not the one in the configuration. */
const EFFECTIVE: { [K in SettingName]?: (config: Config) => string | null } = {
  productionUrl: (config) => environmentUrl(config, 'production'),
  sandboxUrl: (config) => environmentUrl(config, 'sandbox'),
  adminUrl,
  masterKeyFile: (config) => (isKeyFileUsed(config) ? config.masterKeyFile : null),
  operatorPasswordFile: (config) =>
    config.operatorPassword === undefined ? config.operatorPasswordFile : null,
}

/** The value as text: masked for a secret, null where there is none. @param settings those of the core unless features' own are shown too */
export function effectiveValue(name: string, config: Config, settings: Settings = SETTINGS): string | null {
  const { isSecret, show } = settings[name]!
  const effective = EFFECTIVE[name as SettingName]
  const value: unknown = effective ? effective(config) : config[name as SettingName]
  if (value === undefined || value === null) return null
  if (isSecret) return MASK
  if (show) return show(value)
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'object' && 'host' in value) {
    const { host, port } = value as ListenAddress
    return `${host.includes(':') ? `[${host}]` : host}:${port}`
  }
  // A URL may contain a password.
  return String(value).replace(/\/\/\S*@/, `//${MASK}@`)
}
