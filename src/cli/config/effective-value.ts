/** Values of settings as they are in effect, for people and programs. */
import { ALL_SETTINGS } from '../../app/configuration.js'
import {
  adminUrl,
  type Config,
  environmentUrl,
  type ListenAddress,
  type SettingName,
} from '../../config/config.js'
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

/** The value as text: masked for a secret, null where there is none. */
export function effectiveValue(name: string, config: Config): string | null {
  const { isSecret, show } = ALL_SETTINGS[name]!
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
