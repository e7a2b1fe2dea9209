/** The page docs/evidence.md, and installations to judge. */

import { type ModelPack, parsePackManifest } from '../../../models/pack/model-pack.js'
import { resolveConfig } from '../../../src/app/configuration.js'
import {
  FACTS,
  type Fact,
  type Installation,
  SETTINGS,
  type SettingName,
} from '../../../src/features/evidence/evidence.js'
import { ABOUT_LINES, linesTable } from '../../../src/features/evidence/evidence-page.js'
import {
  brokenLines,
  countLines,
  judgeInstallation,
} from '../../../src/features/evidence/judge-installation.js'
import { shippedCalibration } from '../../../tools/pack-builders/calibration/shipped.js'
import { standardPackDocument } from '../../../tools/pack-builders/standard/pack-document.js'

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

/** The line that the page shows. */
const SAMPLE = 'nist-pad'

/** Name of the setting with its default, as `COUNTERSIGN_FMR=1e-4`. */
const defaultText = (name: SettingName) => `${SETTINGS[name].variable}=${SETTINGS[name].fallback ?? ''}`

function defaultIn(name: SettingName): string {
  return SETTINGS[name].fallback ? `\`${defaultText(name)}\`` : `\`${SETTINGS[name].variable}\` is not set`
}

const linkTo = (document: string) =>
  `[${document.replace(/^(guides|operations)\//, '').replace(/\.md(#.*)?$/, '')}](${document})`

/** docs/evidence.md */
export function evidencePage(): string {
  const standards = judgeInstallation(defaultInstallation())
  const lines = standards.flatMap((standard) => standard.lines)
  const samples = lines.filter(({ id }) => id === SAMPLE)
  const causes = [...brokenLines(standards)].map(([cause, { length }]) => {
    const text = cause in FACTS ? FACTS[cause as Fact] : defaultIn(cause as SettingName)
    return `- ${text}: ${length} lines`
  })
  const counts = standards.map((standard) => {
    const { met, partly, not_met } = countLines(standard)
    return `- ${standard.title}: ${met} met, ${partly} partly, ${not_met} not met`
  })
  return `# Evidence

\`countersign evidence\` judges your installation by laws and standards, requirement by requirement, and prints a page in Markdown:

\`\`\`sh
countersign evidence > evidence.md
\`\`\`

It reads the configuration, the model pack, the contracts of the tenants and the age of the backups. What it cannot read is named at the top and left out of the judgement. It changes nothing and ends with 0, however the judgements are.
With \`--json\` it prints one line for programs: the \`status\` of each requirement, and in \`broken_by\` the settings that lower it.

${ABOUT_LINES}

## The default settings

With the standard model pack, before the first tenant:

${counts.join('\n')}

These settings and facts lower judgements there:

${causes.join('\n')}

All other lines below *met* have their reason in the product, or are yours.

## One of the ${lines.length} lines

${linesTable(samples, { settingText: defaultText, linkTo })}
`
}
