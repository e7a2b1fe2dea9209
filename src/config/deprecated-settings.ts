/** Settings that still work and will be removed: each is warned of by `config check`, `doctor` and the start. */
import { SETTINGS, type SettingName } from './settings.js'
import type { GivenValue } from './variables.js'

export interface Deprecation {
  /** First version that warns of the setting, such as `1.2.0`. */
  since: string
  /** Next step for the operator, as one whole sentence. */
  instead: string
}

export type Deprecations = Partial<Record<SettingName, Deprecation>>

/** Nothing is deprecated at present. The description of each setting that is listed here begins with "Deprecated since". */
export const DEPRECATED_SETTINGS: Deprecations = {}

/** One warning for each deprecated setting that is given, in the environment or in the file. */
export function deprecationWarnings(
  given: ReadonlyMap<string, GivenValue>,
  deprecated: Deprecations,
): string[] {
  return Object.entries(deprecated).flatMap(([name, { since, instead }]) => {
    const { variable } = SETTINGS[name as SettingName]
    return given.has(variable)
      ? [`${variable} is deprecated since ${since} and will be removed in a later major version. ${instead}`]
      : []
  })
}
