/** Runner of a project whose requirement this machine lacks: each test shows as skipped, and no hook runs. */
import { type RunnerTestFile, type RunnerTestSuite, TestRunner } from 'vitest'

export default class SkippingRunner extends TestRunner {
  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) skip(file)
  }
}

function skip(suite: RunnerTestSuite): void {
  suite.mode = 'skip'
  for (const task of suite.tasks) {
    if (task.type === 'suite') skip(task)
    else task.mode = 'skip'
  }
}
