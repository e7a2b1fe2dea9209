/** The tests of one room, as `npm run test:mutation` runs them against each mutant. */
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: JSON.parse(process.env.COUNTERSIGN_MUTATION_TESTS ?? '[]'),
    globalSetup: ['test/mutation/global-setup.ts'],
    pool: 'forks',
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000 } },
  },
})
