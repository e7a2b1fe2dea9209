/** Reports settings and packs that let an attack through, each with the setting that closes it. */
import { CONSEQUENCE, describeGrade, isProductionGrade } from '../../../models/pack/pack-grade.js'
import {
  type Config,
  modelPackDir,
  type Resolution,
  SETTINGS,
  type SettingName,
} from '../../config/config.js'
import { docPath } from '../../lib/doc-path.js'
import { expectedPack, NOT_BUILT } from '../models/expected-pack.js'
import type { ConfigWarning } from './config-warnings.js'

/** The three ways out of a lesser grade than production. */
export const DECIDE_ON_GRADE = `calibrate it on your own labeled people, bring another pack, or accept the grade on both sides; see ${docPath('guides/production.md#the-grade-a-decision')}`

interface OpenSetting {
  name: SettingName
  isOpen: (config: Config) => boolean
  /** One sentence. */
  detail: string
  remedy: string
}

const { replayPolicy, requireLiveness } = SETTINGS

const OPEN_SETTINGS: OpenSetting[] = [
  {
    name: 'replayPolicy',
    isOpen: (config) => config.replayPolicy === 'report',
    detail: `${replayPolicy.variable} is report: a photo that was sent before, also the enrollment photo, is approved again and only marked as replay.suspected.`,
    remedy: `set ${replayPolicy.variable}=reject_identical, the default, which refuses the same file, or reject, which refuses a nearly identical face as well`,
  },
  {
    name: 'requireLiveness',
    isOpen: (config) => config.requireLiveness === 'none',
    detail: `${requireLiveness.variable} is none: a photo of the user on paper, on a screen or in a file is accepted like a face in front of the camera.`,
    remedy: `set ${requireLiveness.variable}=active (a challenge), passive where the model pack has a liveness network, or both; a tenant's contract can ask for it too`,
  },
]

/** One warning for each open setting, whether the operator chose it or it is the default. */
export function openSettings(config: Config): ConfigWarning[] {
  return OPEN_SETTINGS.filter(({ isOpen }) => isOpen(config)).map(({ detail, remedy }) => ({
    detail,
    remedy,
  }))
}

/** A warning where the model pack is not of production grade. `doctor` reports a pack that cannot be read. */
export async function openPack(config: Config): Promise<ConfigWarning[]> {
  try {
    const expected = await expectedPack(config.modelPack, modelPackDir(config))
    if (expected === null || isProductionGrade(expected.pack, config.fmr)) return []
    return [
      {
        detail: `${expected.isThere ? '' : NOT_BUILT}${describeGrade(expected.pack, config.fmr)} One person may pass for another more often than the rate that is signed. For callers: ${CONSEQUENCE}.`,
        remedy: DECIDE_ON_GRADE,
      },
    ]
  } catch {
    return []
  }
}

/** One sentence for the start about settings that are open by default, or null where the operator has chosen each of them. */
export function openByDefault({ config, given }: Resolution): string | null {
  const open = OPEN_SETTINGS.filter(
    ({ name, isOpen }) => isOpen(config) && !given.has(SETTINGS[name].variable),
  ).map(({ name }) => `${SETTINGS[name].variable}=${config[name]}`)
  if (open.length === 0) return null
  return `Open by default: ${open.join(' and ')} ${open.length > 1 ? 'let' : 'lets'} a photo of the user pass. countersign config check says what each lets through and what closes it; naming the setting ends this warning.`
}
