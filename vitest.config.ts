import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { configDefaults, defineConfig } from 'vitest/config'
import { findPostgres } from './test/support/postgres-server.js'

/** Minutes of load, faults, films and random sequences, whole models and other languages' tools: `npm run test:campaigns`. */
const CAMPAIGNS = [
  'test/biometrics/evaluation.test.ts',
  'test/biometrics/kernels/sanitizers.test.ts',
  'test/cli/models-agree.test.ts',
  'test/evaluation/ageing-lfw.test.ts',
  'test/evaluation/following-lfw.test.ts',
  'test/evaluation/own-users-lfw.test.ts',
  'test/client/behaviour.test.ts',
  'test/client/examples.test.ts',
  'test/client/language-examples.test.ts',
  'test/faults/**/*.test.ts',
  'test/features/insight/drift/quiet-months.test.ts',
  'test/fuzz/campaign.test.ts',
  'test/generated-clients.test.ts',
  'test/hostile/**/*.test.ts',
  'test/models/build-baseline.test.ts',
  'test/deployment/helm.test.ts',
  'test/powerloss/**/*.test.ts',
  'test/releases/archive.test.ts',
  'test/**/*.model.test.ts',
]

/** In a browser: `npm run test:pages`. */
const PAGES = ['test/**/*.browser.test.ts']

/** Real time before a browser's camera, which nothing else may slow down: `npm run test:films`. */
const FILMS = ['test/capture/verdict.test.ts', 'test/features/openid/films.test.ts']
/** What only PostgreSQL has. */
const POSTGRES = [
  'test/chaos/{campaign,short}.test.ts',
  'test/cluster/**/*.test.ts',
  'test/features/epoch-keys/*.test.ts',
  'test/storage/postgres/*.test.ts',
]
/** What callers and tenants are promised, and hangs on what is kept: on PostgreSQL as well, with the former `npm run test:postgres`. */
const CONTRACT = [
  'test/features/policies/{inactive-users,policy-in-force}.test.ts',
  'test/audit/*.test.ts',
  'test/cli/calibrate-from-users.test.ts',
  'test/features/capture-sessions/own-consent.test.ts',
  'test/features/challenges/challenges.test.ts',
  'test/crypto/external-signer.test.ts',
  // Not what signs in often: several services count that by the database's clock, which no test moves.
  'test/dashboard/{models,people,second-factor,sessions,users}.test.ts',
  'test/idempotency/idempotency.test.ts',
  'test/jobs/audit-verification.test.ts',
  'test/tenants/api-keys.test.ts',
  'test/features/openid/openid-key-rotation.test.ts',
  'test/ledger/ledger.test.ts',
  'test/features/openid/entra-method.test.ts',
  'test/features/openid/keycloak.test.ts',
  'test/features/openid/openid-okta.test.ts',
  'test/features/own-parts.test.ts',
  'test/api/{add-photos,delete,enroll,get-user,get-verification,list-audit,passkeys,public-verdict,rotate-signing,verify}.test.ts',
  'test/features/insight/shadow/shadow.test.ts',
  'test/users/erasure-reach.test.ts',
  'test/verification/{changing-models,lockout,replays}.test.ts',
]

/** Services, servers and builds that start one after another on a busy machine. */
const SEVERAL_PROCESSES = { testTimeout: 300_000, hookTimeout: 300_000 }

const MAX_WORKERS = 8
// A file waits for more than half of its time: for its engine, for processes that start, for time that passes. Each worker takes half a gigabyte.
const maxWorkers = Math.min(2 * availableParallelism() + 1, MAX_WORKERS)

/**
 * Gives the tests what `dist` has of the sources, which the run has found to be built from them: transforming a thousand files, and loading them
 * through vitest in each worker, takes half a minute of a core. The SDKs stay as they are, since a test loads them a second time.
 */
const builtSources = {
  name: 'built-sources',
  enforce: 'pre' as const,
  resolveId(name: string, importer?: string) {
    if (!importer || !name.startsWith('.')) return
    const path = resolve(dirname(importer), name)
    const root = import.meta.dirname
    const built = join(root, 'dist', relative(root, path))
    const isSource = /^(?:src|models|tools|bench)[\\/].*\.js$/.test(relative(root, path)) && !existsSync(path)
    return isSource && existsSync(built) ? { id: built, external: true } : undefined
  },
}

export default defineConfig({
  plugins: [builtSources],
  test: {
    server: { deps: { external: [/[\\/]dist[\\/](?:src|models|tools|bench)[\\/]/] } },
    globalSetup: ['test/support/global-setup.ts'],
    setupFiles: ['test/support/quick-scrypt.mjs', 'test/support/remembered-trials.ts'],
    pool: 'forks',
    // Only a test that stands still meets these: on two busy cores the start of a process takes ten seconds.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A service on a busy machine may take its time; what is waited for comes or the test fails.
    expect: { poll: { timeout: 40_000 } },
    reporters: ['default', './test/support/totals-reporter.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'rules',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...CAMPAIGNS, ...PAGES, ...FILMS, ...POSTGRES],
          // Loading the service and its native addons anew for each file would cost as much as many a file's tests.
          isolate: false,
          maxWorkers,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: [...POSTGRES, ...CONTRACT, 'test/faults/changing-packs.test.ts'],
          env: { COUNTERSIGN_TEST_STORE: 'postgres' },
          ...SEVERAL_PROCESSES,
          isolate: false,
          maxWorkers,
          ...(findPostgres() ? {} : { runner: 'test/support/skipping-runner.ts' }),
        },
      },
      {
        extends: true,
        // A browser takes half a gigabyte, and both cores.
        // Before a camera time is real: a browser that another program holds up for a second misses a frame, and is asked once more.
        test: { name: 'pages', include: PAGES, maxWorkers: 2, retry: 1, sequence: { groupOrder: 1 } },
      },
      {
        extends: true,
        // Their load takes whole cores, and what they measure is time.
        test: {
          name: 'campaigns',
          include: CAMPAIGNS,
          ...SEVERAL_PROCESSES,
          maxWorkers: 2,
          sequence: { groupOrder: 2 },
        },
      },
      {
        extends: true,
        test: { name: 'films', include: FILMS, maxWorkers: 1, retry: 1, sequence: { groupOrder: 3 } },
      },
    ],
  },
})
