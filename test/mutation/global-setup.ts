/** What a room's tests share: the baseline pack. Unlike the suite's, it does not ask whether dist is built from the sources, which are mutated. */
import type { TestProject } from 'vitest/node'
import { MODELS_DIR } from '../support/models-dir.js'
import { prepareBaseline } from '../support/prepare-baseline.js'

export default async function setup(project: TestProject): Promise<void> {
  await prepareBaseline()
  project.provide('modelsDir', MODELS_DIR)
}
