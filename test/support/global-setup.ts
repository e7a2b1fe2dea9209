/** Once a run: the baseline pack, which every test that recognises faces shares. */
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { buildBaseline } from '../../models/baseline/build-baseline.js'
import { packageFile } from '../../src/package-root.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** A models folder that holds the pack `baseline`. */
    modelsDir: string
  }
}

export default async function setup(project: TestProject): Promise<void> {
  // Kept between runs: a complete pack is only checked, in some 35 ms. Not in a folder that another checkout would replace it in.
  const modelsDir = packageFile('node_modules', '.cache', 'countersign-test-models')
  await buildBaseline({ outDir: join(modelsDir, 'baseline') })
  project.provide('modelsDir', modelsDir)
}
