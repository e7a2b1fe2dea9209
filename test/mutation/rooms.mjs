/** The rooms that decide: which sources are mutated, and the tests beside them that are to notice. */
export const ROOMS = {
  decision: {
    mutate: ['src/v1/judge.ts', 'src/v1/liveness.ts', 'src/v1/engine-recogniser.ts'],
    tests: [
      'test/v1/decision.test.ts',
      'test/v1/challenge-rules.test.ts',
      'test/v1/liveness-requirement.test.ts',
      'test/v1/challenges.test.ts',
      'test/v1/verify.test.ts',
      'test/v1/lockout.test.ts',
      'test/v1/replays.test.ts',
      'test/v1/acr.test.ts',
      'test/v1/add-photos.test.ts',
      'test/v1/several-images.test.ts',
    ],
  },
  'active-liveness': {
    mutate: ['src/biometrics/challenge/active-geometry.ts', 'src/biometrics/challenge/same-face.ts'],
    tests: ['test/biometrics/challenge/*.test.ts', 'test/liveness/active-geometry.properties.test.ts'],
  },
  keys: {
    mutate: ['src/tenancy/api-key.ts', 'src/tenancy/signing-secrets.ts', 'src/tenancy/rate-limiter.ts'],
    tests: [
      'test/tenancy/api-key.properties.test.ts',
      'test/tenancy/api-keys.test.ts',
      'test/tenancy/rate-limit*.test.ts',
      'test/v1/rotate-signing.test.ts',
    ],
  },
  tenants: {
    mutate: [
      'src/tenancy/tenancy.ts',
      'src/operations/tenant-operations.ts',
      'src/operations/tenant-lifecycle.ts',
    ],
    tests: ['test/tenancy/*.test.ts', 'test/cli/tenant.test.ts', 'test/dashboard/operators.test.ts'],
  },
  audit: {
    mutate: ['src/audit/audit-log.ts'],
    tests: ['test/audit/*.test.ts', 'test/v1/list-audit.test.ts'],
  },
  idempotency: {
    mutate: ['src/idempotency/*.ts'],
    tests: ['test/idempotency/*.test.ts'],
  },
  client: {
    mutate: [
      'src/client/replay-store.ts',
      'src/client/response-signature.ts',
      'src/client/signing-secret.ts',
      'src/client/verdict.ts',
      'src/client/verdict-token.ts',
      'src/client/webhook.ts',
    ],
    tests: [
      'test/client/replay-store.test.ts',
      'test/client/response-signature.properties.test.ts',
      'test/client/trust-inputs.test.ts',
      'test/client/verdict*.test.ts',
      'test/client/vectors.test.ts',
      'test/client/webhook.test.ts',
    ],
  },
  'replay-store': {
    mutate: ['src/client/replay-store.ts'],
    tests: ['test/client/replay-store.test.ts'],
  },
  'hosted-page': {
    mutate: ['src/hosted/capture-flow.ts', 'src/hosted/capture-outcome.ts'],
    tests: [
      'test/hosted/capture-limits.test.ts',
      'test/hosted/capture-outcome.test.ts',
      'test/hosted/capture-page.test.ts',
    ],
  },
}
