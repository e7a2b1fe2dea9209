/** Ends a run with the plain line `N passed, N failed`, which the gate reads. */
import { relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { packageFile } from '../../src/package-root.js'

/** Tests that may be skipped, by file, and what a machine lacks where they are. Any other would vanish from the gate uncounted. */
const SKIPPABLE: Record<string, string> = {
  'test/biometrics/evaluation.test.ts': 'evaluation data',
  'test/biometrics/kernels/sanitizers.test.ts': 'Linux, a compiler with sanitizers, and headers beside Node',
  'test/cli/completion.test.ts': 'zsh or fish',
  'test/cli/doctor.test.ts': 'a user that is not root',
  'test/cli/models-pull.test.ts': 'evaluation data',
  'test/client/examples.test.ts': 'Python, Go, or what an example is run with',
  'test/dashboard/pages.test.ts': 'Chromium',
  'test/faults/clock.test.ts': 'libfaketime',
  'test/faults/disk-full.test.ts': 'a file system to fill',
  'test/faults/read-only.test.ts': 'a disk that can be made to fail, or a user that is not root',
  'test/operations/container.test.ts': 'yamllint',
  'test/operations/monitoring.test.ts': 'promtool',
  'test/operations/systemd.test.ts': 'systemd',
  'test/powerloss/campaign.test.ts': 'Linux with glibc and a C compiler',
  'test/supply-chain/supply-chain.test.ts': 'a registry that answers audits',
  'test/v1/rotate-signing.test.ts': 'an address beside loopback',
}

export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: ReadonlyArray<TestModule>, errors: ReadonlyArray<unknown>): void {
    let [passed, failed, skipped] = [0, errors.length, 0]
    const vanished: string[] = []
    for (const module of modules) {
      if (module.errors().length > 0) failed++
      const file = relative(packageFile(), module.moduleId).replaceAll('\\', '/')
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        if (state === 'passed') passed++
        else if (state === 'failed') failed++
        else if (process.env.COUNTERSIGN_TEST_GATE && !SKIPPABLE[file])
          vanished.push(`${file} > ${test.fullName}`)
        else skipped++
      }
    }
    failed += vanished.length
    if (vanished.length > 0) process.exitCode = 1
    process.on('exit', () => {
      for (const test of vanished) process.stdout.write(`\nfailed, because it may not be skipped: ${test}`)
      process.stdout.write(
        `\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`,
      )
    })
  }
}
