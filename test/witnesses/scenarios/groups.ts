/** The scenarios by the file that records them. */
import { existsSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inject } from 'vitest'
import { FEATURES } from '../../../src/features/index.js'
import { packageFile } from '../../../src/lib/package-root.js'
import { writeShiftedPack } from '../../support/packs.js'
import type { Stage } from '../stage.js'
import { Theatre } from '../theatre.js'
import { callers } from './callers.js'
import { captureSessions } from './capture-sessions.js'
import { challenges } from './challenges.js'
import { AGEING_DAYS, changingModels } from './changing-models.js'
import { enroll } from './enroll.js'
import { passkeys } from './passkeys.js'
import { people } from './people.js'
import { policy } from './policy.js'
import { verify } from './verify.js'

export type Scenario = (stage: Stage) => Promise<void>

export interface Group {
  /** Opens the service of the scenarios; groups with the same function share one. */
  theatre: () => Promise<Theatre>
  scenarios: Record<string, Scenario>
}

/** Two rejections lock out, and a replay is only reported. */
const usual = () => Theatre.open({ COUNTERSIGN_LOCKOUT_ATTEMPTS: '2' })

/** A second model pack is loaded, references age, a replay is refused, and there is no capture page. */
async function changing(): Promise<Theatre> {
  const pack = await mkdtemp(join(tmpdir(), 'countersign-shifted-'))
  await writeShiftedPack(pack, inject('modelsDir'))
  const settings = {
    COUNTERSIGN_FOLLOWING_PACKS: pack,
    COUNTERSIGN_ACCEPT_PACK: 'baseline,shifted',
    COUNTERSIGN_REFERENCE_AGEING_DAYS: String(AGEING_DAYS),
    COUNTERSIGN_REPLAY_POLICY: 'reject',
    COUNTERSIGN_CAPTURE_LISTEN: '',
  }
  return Theatre.open(settings, { ownEngine: true, folder: pack })
}

/** Scenarios that a feature brings in the folder of its tests, by the name of the feature. */
const OF_FEATURES = await Promise.all(
  FEATURES.filter(({ name }) => existsSync(packageFile('test', 'features', name, 'scenarios.ts'))).map(
    async ({ name }): Promise<[string, Group]> => {
      const { scenarios } = await import(`../../features/${name}/scenarios.ts`)
      return [name, { theatre: usual, scenarios }]
    },
  ),
)

export const GROUPS: Record<string, Group> = {
  verify: { theatre: usual, scenarios: verify },
  enroll: { theatre: usual, scenarios: enroll },
  policy: { theatre: usual, scenarios: policy },
  challenges: { theatre: usual, scenarios: challenges },
  passkeys: { theatre: usual, scenarios: passkeys },
  'capture-sessions': { theatre: usual, scenarios: captureSessions },
  people: { theatre: usual, scenarios: people },
  callers: { theatre: usual, scenarios: callers },
  'changing-models': { theatre: changing, scenarios: changingModels },
  ...Object.fromEntries(OF_FEATURES),
}
