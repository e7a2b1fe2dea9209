/** Creates folders that live as long as the run. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onCleanUp } from './clean-up.js'

export async function temporaryDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'countersign-bench-'))
  onCleanUp(() => rm(dir, { recursive: true, force: true }))
  return dir
}
