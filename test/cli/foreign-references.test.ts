/** Users whose references were made by another model pack than the one that serves. */
import { join } from 'node:path'
import { beforeEach, expect, inject, it } from 'vitest'
import { SqliteStore } from '../../src/storage/sqlite/sqlite-store.js'
import { workplaceForEach } from '../support/command.js'
import { writeBroughtPack } from '../support/packs.js'
import { reference, subject } from '../support/records.js'

const place = workplaceForEach({ COUNTERSIGN_MODEL_PACK: join(inject('modelsDir'), 'baseline') })
beforeEach(async () => {
  const { tenant_id: tenantId } = (await place.ask('tenant create acme')).json
  const store = await SqliteStore.open(place.path('countersign.db'))
  await store.transaction('installation', async (tx) => {
    for (const name of ['ada', 'grace']) {
      await tx.insertSubject(subject(name, { tenantId, environment: 'production' }))
      await tx.putReference(reference(name, { model: 'baseline@1.0.0' }))
    }
    await tx.insertSubject(subject('trial', { tenantId, environment: 'sandbox' }))
    await tx.putReference(reference('trial', { model: 'sandbox@1' }))
  })
  await store.close()
})

const told = (served: string) =>
  `The model pack ${served} serves, and production references were made with another pack: 2 with baseline@1.0.0. ` +
  'Their users are answered with reference_model_mismatch until they are enrolled again. To serve them again, set COUNTERSIGN_MODEL_PACK=baseline.'

async function databaseFinding(env: Record<string, string> = {}) {
  const { findings } = (await place.ask('doctor', env)).json
  return findings.find(({ check }: { check: string }) => check === 'database')
}

it('doctor, migrate and serve warn of references from another pack than the one that serves', async () => {
  await writeBroughtPack(place.path('brought'), inject('modelsDir'))
  const env = { COUNTERSIGN_MODEL_PACK: place.path('brought'), COUNTERSIGN_ACCEPT_PACK: 'brought' }
  expect(await databaseFinding(env)).toMatchObject({
    status: 'warning',
    detail: `whole; 1 tenant, 2 production references. ${told('brought@1.0.0')}`,
  })
  expect((await place.ask('migrate', env)).json.warnings).toEqual([told('brought@1.0.0')])
  expect((await place.run(['migrate'], env)).stderr).toContain(told('brought@1.0.0'))
  const server = await place.announce(['--json'], env)
  expect(JSON.parse(server.stderr).warnings).toContain(told('brought@1.0.0'))
})

it('a pack that is not built yet is recognized by its name', async () => {
  const env = { COUNTERSIGN_MODELS_DIR: place.path('none'), COUNTERSIGN_MODEL_PACK: '' }
  expect(await databaseFinding(env)).toMatchObject({
    status: 'warning',
    detail: expect.stringContaining(told('standard')),
  })
})

it('there is no warning about references of the pack that serves', async () => {
  expect(await databaseFinding()).toMatchObject({
    status: 'ok',
    detail: 'whole; 1 tenant, 2 production references',
  })
  expect((await place.ask('migrate')).json.warnings).toEqual([])
})
