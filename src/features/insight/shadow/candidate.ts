/** The candidate that sees live traffic in shadow: another pack, another false match rate, other quality bounds, or several of them. */
import { QUALITY_COMPONENTS } from '../../../../models/pack/quality-components.js'
import type { QualityBound, QualityBounds } from '../../../../models/pack/quality-schema.js'
import type { OtherBounds } from '../../../biometrics/types.js'
import { type Config, packDir } from '../../../config/config.js'
import { ownValues } from '../../../config/own-settings.js'
import { type QualityEnd, SHADOW_SETTINGS } from './shadow-settings.js'

export interface Candidate {
  /** Id of the candidate's pack; null for the pack that decides for the tenant. */
  model: string | null
  /** False match rate instead of the one of the installation or contract, 0 to 1; null for the same. */
  fmr: number | null
  /** Bounds instead of those of the installation and the pack; null for the same. */
  bounds: OtherBounds | null
}

/**
 * Returns the configured candidate, or null where there is none.
 * @param packs the packs of the engine
 */
export function candidateOf(
  config: Config,
  packs: Iterable<{ dir: string; modelId: string }>,
): Candidate | null {
  const { shadowPack, shadowFmr, shadowMinFacePx, shadowQuality } = ownValues(SHADOW_SETTINGS, config)
  const bounds = {
    ...(shadowMinFacePx !== undefined && { minFacePx: shadowMinFacePx }),
    ...(shadowQuality && { quality: boundsOf(shadowQuality) }),
  }
  const hasBounds = Object.keys(bounds).length > 0
  if (shadowPack === undefined && shadowFmr === undefined && !hasBounds) return null
  return {
    model: shadowPack === undefined ? null : loadedModel(packDir(shadowPack, config.modelsDir), packs),
    fmr: shadowFmr ?? null,
    bounds: hasBounds ? bounds : null,
  }
}

/** Names a candidate in one line, the same for equal candidates: its counts are kept under this name. */
export function describeCandidate({ model, fmr, bounds }: Candidate): string {
  const { minFacePx, quality = {} } = bounds ?? {}
  return [
    ...(model === null ? [] : [model]),
    ...(fmr === null ? [] : [`FMR ${fmr}`]),
    ...(minFacePx === undefined ? [] : [`face >= ${minFacePx} px`]),
    ...QUALITY_COMPONENTS.flatMap((component) => {
      const { min, max } = quality[component] ?? {}
      return [
        ...(min === undefined ? [] : [`${component} >= ${min}`]),
        ...(max === undefined ? [] : [`${component} <= ${max}`]),
      ]
    }),
  ].join(', ')
}

function boundsOf(ends: readonly QualityEnd[]): QualityBounds {
  const bounds: Record<string, QualityBound> = {}
  for (const { component, sign, value } of ends)
    bounds[component] = { ...bounds[component], [sign === '>=' ? 'min' : 'max']: value }
  return bounds
}

/** @throws TypeError for a pack that is not loaded, which the configuration refuses */
function loadedModel(dir: string, packs: Iterable<{ dir: string; modelId: string }>): string {
  for (const pack of packs) if (pack.dir === dir) return pack.modelId
  throw new TypeError(`the pack in ${dir} is not loaded`)
}
