/** `countersign models migrate`: each step, for all tenants or for one, without a running service. */
import { beforeAll, expect, inject, it } from 'vitest'
import { workplaceForAll, workplaceOfTest } from '../support/command.js'
import { writeShiftedPack } from '../support/packs.js'

const OLD = 'baseline@1.0.0'
const NEW = 'shifted@1.0.0'

const place = workplaceForAll()
beforeAll(async () => {
  await writeShiftedPack(place.path('shifted'), inject('modelsDir'))
  for (const name of ['acme', 'beta']) await place.run(['tenant', 'create', name])
})

const migrate = (...args: string[]) => place.run(['models', 'migrate', ...args, '--json'])
const deciding = async () => {
  const { tenants } = (await migrate('--status')).json
  return Object.fromEntries(
    tenants.map((one: { name: string; deciding: string }) => [one.name, one.deciding]),
  )
}

it('moves the decision of the tenant that --tenant names, and back, and of every other tenant without it', async () => {
  expect((await migrate('--to', place.path('shifted'))).json).toMatchObject({ from: OLD, to: NEW })
  expect((await migrate('--decide', '--tenant', 'beta')).json).toEqual({ moved: ['beta'] })
  expect(await deciding()).toEqual({ acme: OLD, beta: NEW })
  const { error } = await migrate('--finish')
  expect(error.code).toBe('model_decisions_differ')
  expect(error.message).toContain(`${NEW} decides for beta, ${OLD} for acme.`)
  expect((await migrate('--back', '--tenant', 'beta')).json).toEqual({ moved: ['beta'] })
  expect(await deciding()).toEqual({ acme: OLD, beta: OLD })
  expect((await migrate('--decide', '--tenant', 'acme')).json).toEqual({ moved: ['acme'] })
  expect((await migrate('--decide')).json).toEqual({ moved: ['beta'] })
  expect(await deciding()).toEqual({ acme: NEW, beta: NEW })
})

it('moves nothing for a tenant that does not exist', async () => {
  expect((await migrate('--back', '--tenant', 'nobody')).error.code).toBe('tenant_not_found')
  expect(await deciding()).toEqual({ acme: NEW, beta: NEW })
})

it('takes one step a command', async () => {
  const refused = await migrate('--decide', '--back')
  expect(refused).toMatchObject({ code: 2, error: { code: 'invalid_option' } })
  expect(await deciding()).toEqual({ acme: NEW, beta: NEW })
})

it('refuses an empty name of a pack, and changes no condition of the change under way', async () => {
  const plan = async () => (await migrate('--status')).json
  const before = await plan()
  const refused = await migrate('--to', '', '--at-coverage', '0.5')
  expect(refused.error.message).toContain('--to is')
  expect(await plan()).toEqual(before)
})

it('finishes at the new pack on an installation whose only tenant was deleted', async () => {
  const empty = await workplaceOfTest()
  await empty.run(['tenant', 'create', 'gone'])
  await empty.run(['tenant', 'delete', 'gone', '--confirm', 'gone'])
  const step = (...args: string[]) => empty.run(['models', 'migrate', ...args, '--json'])
  expect((await step('--to', place.path('shifted'))).json).toMatchObject({ from: OLD, to: NEW })
  expect((await step('--finish')).json).toMatchObject({ kept: NEW, dropped: OLD, moved: 0 })
})
