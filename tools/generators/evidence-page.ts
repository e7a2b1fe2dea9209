/** The page docs/evidence.md, and installations to judge. */

import { type ModelPack, parsePackManifest } from '../../models/pack/model-pack.js'
import { resolveConfig, SETTINGS } from '../../src/config/config.js'
import type { Installation } from '../../src/evidence/evidence.js'
import { evidencePage } from '../../src/evidence/evidence-page.js'
import { judgeInstallation } from '../../src/evidence/judge-installation.js'
import { shippedCalibration } from '../pack-builders/calibration/shipped.js'
import { standardPackDocument } from '../pack-builders/standard/pack-document.js'

/** A folder that no machine of a developer has, so that nothing in it settles a default. */
const DATA_DIR = '/var/lib/countersign'

/** The settings that these variables give, without the prefix `COUNTERSIGN_`. Files that they name need not exist. */
export function configWith(env: Readonly<Record<string, string>> = {}) {
  const variables = Object.entries(env).map(([name, value]) => [`COUNTERSIGN_${name}`, value])
  return resolveConfig({ COUNTERSIGN_DATA_DIR: DATA_DIR, ...Object.fromEntries(variables) }).config
}

export function standardPack(): ModelPack {
  const manifest = parsePackManifest(standardPackDocument())
  return {
    dir: `${DATA_DIR}/models/standard`,
    manifest,
    modelId: `${manifest.id}@${manifest.version}`,
    calibration: shippedCalibration('standard'),
  }
}

/** The installation that a first start makes, before it has a database. */
export function defaultInstallation(): Installation {
  return { config: configWith(), pack: standardPack(), tenants: [], backups: 'unknown', durability: null }
}

/** docs/evidence.md */
export function evidencePageOfDefaults(): string {
  return evidencePage({
    introduction:
      'This page is what `countersign evidence` prints for the default settings, the standard model pack and no tenant yet. Run it with your configuration: a setting that breaks a line then shows. `--json` prints the same for programs.',
    standards: judgeInstallation(defaultInstallation()),
    settingText: (name) => `${SETTINGS[name].variable}=${SETTINGS[name].fallback ?? ''}`,
    linkTo: (document) =>
      `[${document.replace(/^(guides|operations)\//, '').replace(/\.md(#.*)?$/, '')}](${document})`,
  })
}
