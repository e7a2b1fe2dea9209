/** The settings of a candidate in shadow. */
import { QUALITY_COMPONENTS, type QualityComponent } from '../../../../models/pack/quality-components.js'
import { followingPackDirs, modelPackDir, packDir } from '../../../config/config.js'
import type { OwnSettings, Values } from '../../../config/own-settings.js'
import { fail, falseMatchRate, integer, share, text } from '../../../config/parsers.js'
import { optional, setting } from '../../../config/setting.js'

export interface QualityEnd {
  component: QualityComponent
  sign: '>=' | '<='
  value: number
}

/** Ends of bounds, separated by commas, such as `sharpness>=10,head_pose_yaw<=25`. */
function qualityEnds(text: string, variable: string): QualityEnd[] {
  return text.split(',').map((part) => {
    const [, component, sign, value] = /^\s*([a-z_]+)\s*(>=|<=)\s*(-?\d+(?:\.\d+)?)\s*$/.exec(part) ?? []
    if (!QUALITY_COMPONENTS.some((known) => known === component))
      fail(
        variable,
        text,
        `bounds separated by commas, such as sharpness>=10,head_pose_yaw<=25, of ${QUALITY_COMPONENTS.join(', ')}`,
      )
    return { component, sign, value: Number(value) } as QualityEnd
  })
}

const SETTINGS = {
  shadowFmr: optional(
    'SHADOW_FMR',
    'A candidate for FMR or for a rate in a contract; countersign models shadow shows which production verdicts it would change. Default: none.',
    falseMatchRate,
  ),
  shadowPack: optional(
    'SHADOW_PACK',
    'A candidate for MODEL_PACK, one of FOLLOWING_PACKS: it compares captures of users who have a template of it. Default: none.',
    text,
  ),
  shadowMinFacePx: optional(
    'SHADOW_MIN_FACE_PX',
    'A candidate for MIN_FACE_PX, in pixels. Default: none.',
    integer(16, 4096),
  ),
  shadowQuality: {
    ...optional(
      'SHADOW_QUALITY',
      'Candidates for ends of quality bounds at verify, separated by commas, such as sharpness>=10,head_pose_yaw<=25. Default: none.',
      qualityEnds,
    ),
    show: (ends: QualityEnd[]) =>
      ends.map(({ component, sign, value }) => `${component}${sign}${value}`).join(','),
  },
  shadowShare: setting(
    'SHADOW_SHARE',
    '0.1',
    'Share of verifications that a candidate pack or bound judges again, over 0 and at most 1. Idle workers do it after the answer; what finds none within two seconds is dropped and counted. SHADOW_FMR counts all.',
    share,
  ),
}

export type ShadowSettings = Values<typeof SETTINGS>

export const SHADOW_SETTINGS: OwnSettings<typeof SETTINGS> = {
  group: 'A candidate in shadow',
  settings: SETTINGS,
  problems({ shadowPack }, config) {
    const loaded = [modelPackDir(config), ...followingPackDirs(config)]
    return shadowPack === undefined || loaded.includes(packDir(shadowPack, config.modelsDir))
      ? []
      : [
          `${SETTINGS.shadowPack.variable} is ${shadowPack}, which no other setting loads. Name it in COUNTERSIGN_FOLLOWING_PACKS too.`,
        ]
  },
}
