/** The pack that serves where none is named. References work only with the pack that made them, so it never changes automatically. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/config/config.js'
import { DEFAULT_PACK_FILE } from '../../src/config/default-model-pack.js'
import { temporaryFolder } from '../support/temporary-folder.js'

let modelsDir: string
beforeEach(() => {
  modelsDir = temporaryFolder()
})

const chosen = (env: Record<string, string> = {}) => {
  const { modelPack, isModelPackSettled } = loadConfig({ COUNTERSIGN_MODELS_DIR: modelsDir, ...env })
  return { modelPack, isModelPackSettled }
}
const haveBaseline = () => {
  mkdirSync(join(modelsDir, 'baseline'))
  writeFileSync(join(modelsDir, 'baseline', 'pack.json'), '{}')
}

test('a new installation starts with standard and may still change', () => {
  expect(chosen()).toEqual({ modelPack: 'standard', isModelPackSettled: false })
})

test('an installation that has the baseline pack stays with it', () => {
  haveBaseline()
  expect(chosen()).toEqual({ modelPack: 'baseline', isModelPackSettled: true })
})

test('an installation that started with standard keeps it when another pack is built', () => {
  writeFileSync(join(modelsDir, DEFAULT_PACK_FILE), 'standard\n')
  haveBaseline()
  expect(chosen()).toEqual({ modelPack: 'standard', isModelPackSettled: true })
})

test('a named pack wins', () => {
  haveBaseline()
  expect(chosen({ COUNTERSIGN_MODEL_PACK: 'standard' })).toEqual({
    modelPack: 'standard',
    isModelPackSettled: true,
  })
})
