/**
 * Setup that the tests of a mutation room share: the baseline pack. Unlike the suite's setup, it does not check that dist is built
 * from the sources, because the sources are mutated.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { MODELS_DIR } from '../support/models-dir.js'
import { prepareBaseline } from '../support/prepare-baseline.js'

/** @returns what ends it */
export default async function setup(project: TestProject): Promise<() => void> {
  await prepareBaseline()
  project.provide('modelsDir', MODELS_DIR)
  const repliesDir = mkdtempSync(join(tmpdir(), 'countersign-replies-'))
  project.provide('repliesDir', repliesDir)
  return () => rmSync(repliesDir, { recursive: true })
}
