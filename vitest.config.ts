import { configDefaults, defineConfig } from 'vitest/config'

/** Minutes of load, faults and random sequences: `npm run test:campaigns`. */
const CAMPAIGNS = [
  'test/biometrics/kernels/sanitizers.test.ts',
  'test/faults/**/*.test.ts',
  'test/fuzz/campaign.test.ts',
  'test/hostile/**/*.test.ts',
  'test/powerloss/**/*.test.ts',
  'test/**/*.model.test.ts',
]

export default defineConfig({
  test: {
    globalSetup: ['test/support/global-setup.ts'],
    // Each file boots real services with their own threads; two at a time keep two cores busy without starving them.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    reporters: ['default', './test/support/totals-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'rules',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...CAMPAIGNS],
          // Loading the service and its native addons anew for each file would cost as much as many a file's tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'campaigns', include: CAMPAIGNS } },
    ],
  },
})
