/** Ends a run with the plain line `N passed, N failed`, which the gate reads. */
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { packageFile } from '../../src/lib/package-root.js'
import { missingFor } from './skippable.js'

export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let [passed, failed, skipped] = [0, errors.length, 0]
    const told: string[] = []
    for (const module of modules) {
      if (module.errors().length > 0) failed++
      const file = relative(packageFile(), module.moduleId).replaceAll('\\', '/')
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
        else if (!process.env.COUNTERSIGN_TEST_GATE) skipped++
        else {
          const missing = missingFor(module.project.name, file, test.fullName)
          if (missing) skipped++
          else failed++
          const what = missing ? `skipped for want of ${missing}` : 'failed, because it may not be skipped'
          told.push(`${what}: ${file} > ${test.fullName}`)
        }
      }
    }
    if (failed > 0) process.exitCode = 1
    process.on('exit', () => {
      for (const line of told) process.stdout.write(`\n${line}`)
      process.stdout.write(
        `\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
      )
    })
  }
}
