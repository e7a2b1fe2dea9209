/** Tests of the liveness checks that a call must carry, where installation, contract and call each ask for some. */

import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { COMMAND_LINE } from '../../src/audit/audited-unit-of-work.js'
import type { LivenessRequirement } from '../../src/config/liveness-requirement.js'
import { missingLiveness, strictest } from '../../src/verification/liveness.js'
import { answerTo } from '../support/challenges.js'
import { blank } from '../support/images.js'
import { writeLivenessPack } from '../support/liveness-pack.js'
import { startService, type TestService, type TestTenant } from '../support/service.js'
import { temporaryFolder } from '../support/temporary-folder.js'

const ALL: LivenessRequirement[] = ['none', 'passive', 'active', 'both']
/** Checks that each requirement demands. */
const CHECKS: Record<LivenessRequirement, Array<'active' | 'passive'>> = {
  none: [],
  passive: ['passive'],
  active: ['active'],
  both: ['active', 'passive'],
}

describe('a requirement', () => {
  it('reports the checks of a requirement that a call does not offer, the active one first', () => {
    for (const requirement of ALL)
      for (const offered of ALL) {
        const missing = CHECKS[requirement].filter((check) => !CHECKS[offered].includes(check))
        const [passive, active] = [CHECKS[offered].includes('passive'), CHECKS[offered].includes('active')]
        expect(missingLiveness(requirement, { passive, active })).toBe(missing[0] ?? null)
      }
  })

  it('asks for the checks of all requirements together', () => {
    for (const one of ALL)
      for (const other of ALL)
        for (const third of ALL) {
          const together = new Set([one, other, third].flatMap((requirement) => CHECKS[requirement]))
          expect(new Set(CHECKS[strictest(one, other, third)])).toEqual(together)
        }
  })
})

describe.each([
  ['without a network for liveness', false],
  ['with a network for liveness', true],
])('a service %s', (_, hasPassive) => {
  let running: TestService
  let modelsDir: string
  let users = 0

  beforeAll(async () => {
    modelsDir = temporaryFolder()
    if (hasPassive) await writeLivenessPack(join(modelsDir, 'brought'), inject('modelsDir'))
    const pack = { MODELS_DIR: modelsDir, MODEL_PACK: 'brought', ACCEPT_PACK: 'brought' }
    const settings = Object.entries(pack).map(([name, value]) => [`COUNTERSIGN_${name}`, value])
    running = await startService(hasPassive ? Object.fromEntries(settings) : {})
  })
  afterAll(() => running?.stop())

  async function under(contract: LivenessRequirement): Promise<TestTenant> {
    const tenant = await running.tenant()
    await running.operations.tenants.setContract(await tenant.record(), COMMAND_LINE, {
      ...{ ratePerSecond: 1000, fmr: null, replaceVerdictMinutes: null, requireLiveness: contract },
    })
    return tenant
  }

  /** Error codes or verdicts of a verify with a photo, and of one with a challenge. */
  async function answers({ sandbox }: TestTenant, require_liveness: LivenessRequirement) {
    const user_id = `required-${++users}+match`
    const call = { user_id, action: 'pay', require_liveness }
    const { body: asked } = await sandbox.call('POST', '/v1/challenges', { user_id, action: 'pay' })
    const photo = await sandbox.verify({ ...call, image: blank })
    const challenge = await sandbox.verify({ ...call, challenge: answerTo(asked, blank) })
    return [photo, challenge].map(({ body }) => body.code ?? body.verdict)
  }

  const WITH_BOTH = ['liveness_required', hasPassive ? 'approved' : 'liveness_unavailable']

  it('satisfies the requirement "both" neither by a photo nor with a pack without a network', async () => {
    expect(await answers(await under('none'), 'both')).toEqual(WITH_BOTH)
  })

  it.each([
    ['active', 'passive'],
    ['passive', 'active'],
    ['both', 'none'],
  ] as Array<[LivenessRequirement, LivenessRequirement]>)(
    'asks for both where the contract says %s and the call says %s',
    async (contract, call) => {
      expect(await answers(await under(contract), call)).toEqual(WITH_BOTH)
    },
  )
})
