/** Folders that remove themselves: called inside a test or before it, after that test; outside of tests, after those of the suite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished } from 'vitest'
import { getCurrentTest } from 'vitest/suite'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (getCurrentTest()) onTestFinished(remove)
  else afterAll(remove)
  return folder
}
