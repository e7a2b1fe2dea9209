/** The rooms that decide: the sources to mutate, and the tests that should notice. */
export const ROOMS = {
  decision: {
    mutate: [
      'src/verification/decision-policy.ts',
      'src/verification/verdict-reasons.ts',
      'src/verification/liveness.ts',
      'src/verification/engine-provider.ts',
    ],
    tests: [
      'test/verification/decision.test.ts',
      'test/features/challenges/challenge-rules.test.ts',
      'test/verification/liveness-requirement.test.ts',
      'test/features/challenges/challenges.test.ts',
      'test/api/verify.test.ts',
      'test/verification/lockout.test.ts',
      'test/verification/replays.test.ts',
      'test/verification/acr.test.ts',
      'test/api/add-photos.test.ts',
      'test/api/several-images.test.ts',
    ],
  },
  'active-liveness': {
    mutate: ['src/features/challenges/film/active-geometry.ts', 'src/features/challenges/film/same-face.ts'],
    tests: ['test/features/challenges/film/*.test.ts', 'test/liveness/active-geometry.properties.test.ts'],
  },
  keys: {
    mutate: ['src/tenants/api-key.ts', 'src/tenants/signing-secrets.ts', 'src/tenants/rate-limiter.ts'],
    tests: [
      'test/tenants/api-key.properties.test.ts',
      'test/tenants/api-keys.test.ts',
      'test/tenants/rate-limit*.test.ts',
      'test/api/rotate-signing.test.ts',
    ],
  },
  tenants: {
    mutate: ['src/tenants/tenancy.ts', 'src/admin/tenant-operations.ts', 'src/admin/tenant-lifecycle.ts'],
    tests: ['test/tenants/*.test.ts', 'test/cli/tenant.test.ts', 'test/dashboard/operators.test.ts'],
  },
  audit: {
    mutate: ['src/audit/audit-log.ts'],
    tests: ['test/audit/*.test.ts', 'test/api/list-audit.test.ts'],
  },
  idempotency: {
    mutate: ['src/idempotency/*.ts'],
    tests: ['test/idempotency/*.test.ts'],
  },
  client: {
    mutate: [
      'clients/node/replay-store.ts',
      'clients/node/response-signature.ts',
      'clients/node/signing-secret.ts',
      'clients/node/verdict.ts',
      'clients/node/verdict-token.ts',
      'clients/node/webhook.ts',
    ],
    tests: [
      'test/client/capture-session.test.ts',
      'test/client/replay-store.test.ts',
      'test/client/response-signature.properties.test.ts',
      'test/client/trust-inputs.test.ts',
      'test/client/verdict*.test.ts',
      'test/client/vectors.test.ts',
      'test/client/webhook.test.ts',
    ],
  },
  'replay-store': {
    mutate: ['clients/node/replay-store.ts'],
    tests: ['test/client/replay-store.test.ts'],
  },
  'hosted-page': {
    mutate: [
      'src/features/capture-sessions/page/capture-flow.ts',
      'src/features/capture-sessions/page/capture-outcome.ts',
    ],
    tests: [
      'test/features/capture-sessions/capture-limits.test.ts',
      'test/features/capture-sessions/capture-outcome.test.ts',
      'test/features/capture-sessions/capture-page.test.ts',
    ],
  },
  models: {
    mutate: [
      'models/pack/pack-grade.ts',
      'models/pack/model-pack.ts',
      'models/pack/strict-threshold.ts',
      'src/biometrics/pipeline/networks/upright.ts',
      'src/tenants/tenant-models.ts',
      'src/verification/references/deciding-model.ts',
    ],
    tests: [
      'test/models/pack/*.test.ts',
      'test/tenants/tenant-models.test.ts',
      'test/verification/deciding-model.test.ts',
    ],
  },
  policies: {
    mutate: [
      'src/contract/acr.ts',
      'src/contract/action-policy.ts',
      'src/contract/policy-requirements.ts',
      'src/features/policies/policy.ts',
      'src/features/policies/policy-check.ts',
      'src/features/policies/second-approval.ts',
    ],
    tests: [
      'test/client/policy-requirements.test.ts',
      'test/features/policies/policy.test.ts',
      'test/features/policies/policy-check.test.ts',
      'test/features/policies/second-approval.test.ts',
    ],
  },
  passkeys: {
    mutate: [
      'src/features/passkeys/checks/passkey-attestation.ts',
      'src/features/passkeys/checks/passkey-check.ts',
      'src/features/passkeys/passkey-recovery.ts',
      'src/features/passkeys/registration-permit.ts',
    ],
    tests: [
      'test/features/passkeys/passkey-attestation.test.ts',
      'test/features/passkeys/passkey-check.test.ts',
      'test/features/passkeys/registration-permit.test.ts',
    ],
  },
  openid: {
    mutate: [
      'src/features/openid/asked-acr.ts',
      'src/features/openid/authorization-details.ts',
      'src/features/openid/named-person.ts',
      'src/features/openid/signed-requests.ts',
    ],
    tests: [
      'test/features/openid/asked-acr.test.ts',
      'test/features/openid/named-person.test.ts',
      'test/features/openid/signed-requests.test.ts',
    ],
  },
  'proof-of-return': {
    mutate: [
      'src/features/capture-sessions/get-capture-session.ts',
      'src/features/capture-sessions/page/session-changes.ts',
      'src/features/capture-sessions/capture-session-book.ts',
    ],
    tests: ['test/features/capture-sessions/session-proof.test.ts'],
  },
}
