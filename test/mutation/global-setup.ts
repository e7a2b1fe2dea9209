/**
 * Setup that the tests of a mutation room share: the baseline pack. Unlike the suite's setup, it does not check that dist is built
 * from the sources, because the sources are mutated.
 */
import type { TestProject } from 'vitest/node'
import { MODELS_DIR } from '../support/models-dir.js'
import { prepareBaseline } from '../support/prepare-baseline.js'

export default async function setup(project: TestProject): Promise<void> {
  await prepareBaseline()
  project.provide('modelsDir', MODELS_DIR)
}
