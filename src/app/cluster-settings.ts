/** Settings that callers notice: the cluster warns where they differ between its members. */
import { packFingerprint } from '../../models/pack/calibration.js'
import type { Engine } from '../biometrics/engine/engine.js'
import type { Config } from '../config/config.js'
import { urlVariable } from '../config/listener-settings.js'
import type { Attached } from '../features/feature.js'
import { ofAll } from './background-work.js'
import type { ServiceListeners } from './listeners.js'

const FINGERPRINT_CHARACTERS = 12

/** @returns values by the name of their setting */
export function clusterSettings(
  config: Config,
  { pack, packs }: Pick<Engine, 'pack' | 'packs'>,
  listeners: ServiceListeners,
  features: readonly Attached[],
): Record<string, string> {
  return {
    COUNTERSIGN_MODEL_PACK: `${pack.modelId} ${packFingerprint(pack.manifest).slice(0, FINGERPRINT_CHARACTERS)}`,
    COUNTERSIGN_FOLLOWING_PACKS: [...packs.keys()].slice(1).join(' ') || 'none',
    COUNTERSIGN_FMR: String(config.fmr),
    COUNTERSIGN_REQUIRE_LIVENESS: config.requireLiveness,
    COUNTERSIGN_REFERENCE_AGEING_DAYS: String(config.referenceAgeingDays),
    COUNTERSIGN_REPLAY_POLICY: config.replayPolicy,
    ...Object.assign({}, ...ofAll(features, 'clusterSettings')),
    COUNTERSIGN_LOCKOUT_ATTEMPTS: String(config.lockoutAttempts ?? 'default'),
    COUNTERSIGN_PRODUCTION_URL: listeners.url('production'),
    COUNTERSIGN_SANDBOX_URL: listeners.url('sandbox'),
    COUNTERSIGN_ADMIN_URL: listeners.adminUrl,
    ...Object.fromEntries(
      listeners.ofFeatures.map((name) => [urlVariable(name), listeners.origin(name) ?? 'none']),
    ),
  }
}
