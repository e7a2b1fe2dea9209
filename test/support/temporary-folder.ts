/** Folders that remove themselves: called inside a test or before it, after that test; outside of tests, after those of the suite. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-'))
  whenOver(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Called inside a test, runs the work after that test; outside of tests, after those of the suite. */
export function whenOver(work: () => void | Promise<void>): void {
  if (TestRunner.getCurrentTest()) onTestFinished(work)
  else afterAll(work)
}
