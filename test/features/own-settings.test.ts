/** Settings that features declare themselves. */
import { describe, expect, it } from 'vitest'
import { ALL_SETTING_GROUPS, ALL_SETTINGS, loadConfig } from '../../src/app/configuration.js'
import { loadConfig as loadCore } from '../../src/config/config.js'
import { ownValues } from '../../src/config/own-settings.js'
import { SHADOW_SETTINGS } from '../../src/features/insight/shadow/shadow-settings.js'

const env = { COUNTERSIGN_SHADOW_SHARE: '0.5' }

describe('the settings of features', () => {
  it('have names and variables that no other setting has', () => {
    const all = Object.values(ALL_SETTING_GROUPS).flatMap((settings) => Object.entries(settings))
    expect(Object.keys(ALL_SETTINGS)).toHaveLength(all.length)
    expect(new Set(all.map(([, { variable }]) => variable)).size).toBe(all.length)
  })

  it('are read with those of the core, and given out by their own types', () => {
    expect(ownValues(SHADOW_SETTINGS, loadConfig(env)).shadowShare).toBe(0.5)
    expect(ownValues(SHADOW_SETTINGS, loadConfig({})).shadowShare).toBe(0.1)
  })

  it('are unknown where their feature is left out', () => {
    const file = { COUNTERSIGN_SHADOW_SHARES: '0.5' }
    expect(() => loadConfig(file)).toThrow('did you mean COUNTERSIGN_SHADOW_SHARE?')
    expect(() => loadConfig(file, [])).not.toThrow()
    expect(() => ownValues(SHADOW_SETTINGS, loadCore(env))).toThrow(TypeError)
  })
})
