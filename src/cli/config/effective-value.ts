/** Values of settings as they are in effect, for people and programs. */
import { adminUrl, type Config, environmentUrl, SETTINGS, type SettingName } from '../../config/config.js'
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
  shadowQuality: ({ shadowQuality }) =>
    shadowQuality?.map(({ component, sign, value }) => `${component}${sign}${value}`).join(',') ?? null,
}

/** The value as text: masked for a secret, null where there is none. */
export function effectiveValue(name: SettingName, config: Config): string | null {
  const effective = EFFECTIVE[name]
  const value = effective ? effective(config) : config[name]
  if (value === undefined || value === null) return null
  if (SETTINGS[name].isSecret) return MASK
  if (Array.isArray(value)) return value.join(',')
  if (typeof value === 'object' && 'host' in value)
    return `${value.host.includes(':') ? `[${value.host}]` : value.host}:${value.port}`
  // A URL may contain a password.
  return String(value).replace(/\/\/\S*@/, `//${MASK}@`)
}
