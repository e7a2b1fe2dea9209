/** Once a run: that what is started as a process is what was tested, and what all tests share: the baseline pack, and a PostgreSQL. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { isBuilt } from '../../scripts/build-state.mjs'
import { buildBaseline } from '../../tools/pack-builders/baseline/build-baseline.js'
import { keepFilesInMemory } from './memory-folder.js'
import { MODELS_DIR } from './models-dir.js'
import { PostgresOnDemand } from './postgres-on-demand.js'

declare module 'vitest' {
  interface ProvidedContext {
    /** A models folder that holds the pack `baseline`. */
    modelsDir: string
    /** A folder with the answers of this run's engines (`shared-engine.ts`). */
    repliesDir: string
    /** Where `PostgresOnDemand` is asked. */
    postgresPort: number
  }
}

/** @returns what ends it */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  if (!isBuilt())
    throw new Error(
      'dist is older than the sources, and tests would start it: run `npm test`, which builds first, also for one file: npm test -- <file>',
    )
  await buildBaseline({ outDir: join(MODELS_DIR, 'baseline') })
  project.provide('modelsDir', MODELS_DIR)
  // Campaigns and browsers write more than fits.
  const removeFiles = ['rules', 'postgres'].includes(project.name) ? keepFilesInMemory() : () => {}
  const repliesDir = mkdtempSync(join(tmpdir(), 'countersign-replies-'))
  project.provide('repliesDir', repliesDir)
  const postgres = await PostgresOnDemand.listen()
  project.provide('postgresPort', postgres.port)
  return async () => {
    await postgres.close()
    rmSync(repliesDir, { recursive: true })
    removeFiles()
  }
}
