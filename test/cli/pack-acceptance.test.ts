/** Packs and false match rates that are refused when they are set, with the real service. */
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, inject, it } from 'vitest'
import { workplaceForAll } from '../support/command.js'
import { signIn } from '../support/dashboard.js'
import { OPERATOR_PASSWORD } from '../support/operator.js'
import { writeBroughtPack, writeCalibration, writeShiftedPack } from '../support/packs.js'
import { serviceOfTest } from '../support/service.js'

/** No pack is accepted by name. */
const STRICT = { COUNTERSIGN_ACCEPT_PACK: '' }

const place = workplaceForAll(STRICT)
beforeAll(async () => {
  await cp(join(inject('modelsDir'), 'baseline'), place.path('models', 'baseline'), { recursive: true })
})

describe('a pack of evaluation grade', () => {
  it('does not serve until it is accepted by name', async () => {
    const refused = await place.ask('serve')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('"code":"pack_not_accepted"')
    expect(refused.stderr).toMatch(/not proven for \d+ groups of people \((worst|smallest): /)
    expect(refused.stderr).toContain('COUNTERSIGN_ACCEPT_PACK=baseline')
    const other = await place.ask('serve', { COUNTERSIGN_ACCEPT_PACK: 'standard' })
    expect(other.stderr).toContain('"code":"pack_not_accepted"')
  })

  it('does not follow until it is accepted by name next to the pack that serves', async () => {
    const dir = place.path('shifted')
    await writeShiftedPack(dir, inject('modelsDir'))
    const env = { COUNTERSIGN_FOLLOWING_PACKS: dir, COUNTERSIGN_ACCEPT_PACK: 'baseline' }
    const refused = await place.ask('serve', env)
    expect(refused.error).toMatchObject({
      code: 'pack_not_accepted',
      message: expect.stringContaining('shifted@1.0.0 is of evaluation grade'),
    })
    expect(refused.error.message).toContain('COUNTERSIGN_ACCEPT_PACK=baseline,shifted')
    const server = await place.host({ ...env, COUNTERSIGN_ACCEPT_PACK: 'baseline, shifted' })
    await server.stop()
  })

  it('suggests the pack that a mistyped name may mean', async () => {
    const refused = await place.ask('serve', { COUNTERSIGN_ACCEPT_PACK: 'standrad' })
    expect(refused.error.code).toBe('pack_not_accepted')
    expect(refused.error.message).toContain(
      'COUNTERSIGN_ACCEPT_PACK is standrad, and there is no such pack; did you mean standard?',
    )
    expect(refused.error.message).not.toContain('COUNTERSIGN_MODEL_PACK=standrad')
  })

  it('serves with --demo, and warns of the grade at the start and in health', async () => {
    const server = await place.announce(['--demo', '--json'])
    const { warnings, demo } = JSON.parse(server.stderr)
    expect(warnings.join('\n')).toMatch(
      /baseline@1\.0\.0 is of evaluation grade at a false match rate of 0\.0001: not proven for .*`countersign doctor` lists every group; `countersign models calibrate baseline --from-users` measures/,
    )
    const headers = { Authorization: `Bearer ${demo.sandbox_key}` }
    const health = await fetch(`${server.sandbox}/v1/health`, { headers })
    const { checks } = JSON.parse(await health.text())
    expect(checks.engine).toMatchObject({ model: 'baseline@1.0.0', grade: 'evaluation' })
    await server.stop()
  })

  it('limits the rate of the service to what it reaches, where no pack is accepted', async () => {
    const refused = await place.ask('serve', { COUNTERSIGN_FMR: '1e-6' })
    expect(refused.stderr).toContain('"code":"fmr_not_reached"')
    expect(refused.stderr).toContain('ends at 0.00002')
  })
})

describe('a pack that was measured on people enough', () => {
  let env: Record<string, string>
  beforeEach(async () => {
    const dir = place.path('brought')
    await writeBroughtPack(dir, inject('modelsDir'))
    await writeCalibration(join(dir, 'calibration.json'), dir)
    env = { ...STRICT, COUNTERSIGN_MODEL_PACK: dir }
  })

  it('serves without acceptance, and contracts are limited to the rates that it reaches', async () => {
    const running = await serviceOfTest(env)
    expect(await running.service.packWarnings()).toEqual([])
    const operator = await signIn(running, { password: OPERATOR_PASSWORD })
    const refusal = { status: 400, body: { error: 'invalid_request', code: 'fmr_not_reached' } }
    expect(await operator.call('POST', '/tenants', { name: 'a', fmr: 1e-6 })).toMatchObject(refusal)
    expect((await operator.call('GET', '/tenants')).body.tenants).toEqual([])
    const { id } = (await operator.call('POST', '/tenants', { name: 'a', fmr: 1e-4 })).body.tenant
    const contract = { rate_per_second: 5, fmr: 1e-6 }
    expect(await operator.call('PATCH', `/tenants/${id}`, contract)).toMatchObject(refusal)
    expect((await operator.call('GET', '/system')).body.pack).toMatchObject({
      grade: 'production',
      reasons: [],
    })
  })

  it('warns at the start of each tenant whose rate it does not reach, with the rate that is signed', async () => {
    const data = { ...env, COUNTERSIGN_DATA_DIR: place.path('rates'), COUNTERSIGN_ACCEPT_PACK: 'brought' }
    const create = async (name: string, fmr: string, env: Record<string, string> = data) =>
      (await place.run(['tenant', 'create', name, '--fmr', fmr, '--json'], env)).json.tenant_id
    // The tenant was made before this pack was installed.
    const lost = await create('lost', '1e-6', { ...data, COUNTERSIGN_MODEL_PACK: place.path('none-yet') })
    await create('kept', '1e-4')
    const server = await place.announce(['--json'], data)
    const rates = JSON.parse(server.stderr).warnings.filter((text: string) => text.includes('tenant'))
    expect(rates).toEqual([
      `The tenant lost (${lost}) asks for a false match rate of 0.000001; the calibration of brought@1.0.0 ends at 0.0001, which decides and is signed instead.`,
    ])
    await server.stop()
  })

  it('decides which rates tenant create --fmr accepts', async () => {
    const refused = await place.ask('tenant create b --fmr 1e-6', env)
    expect(refused).toMatchObject({ code: 1, error: { code: 'fmr_not_reached' } })
    expect((await place.ask('tenant create b --fmr 1e-4', env)).code).toBe(0)
    const accepting = { ...env, COUNTERSIGN_ACCEPT_PACK: 'brought' }
    const still = await place.ask('tenant create c --fmr 1e-6', accepting)
    expect(still).toMatchObject({ code: 1, error: { code: 'fmr_not_reached' } })
  })
})
