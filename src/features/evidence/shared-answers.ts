/** Answers that several requirements share and that no installation changes. */
import type { Evidence } from './evidence.js'

export const attackFigures: Evidence = {
  not_met:
    'No laboratory has tested it. Our figures are of 15 attacks on the network and of rendered films; a bent print passed in 2 of 42 films.',
  tests: 'liveness/films cli/evaluate-pad',
  documents: 'guides/liveness.md#what-was-measured guides/liveness.md#what-it-does-not-stop',
}

export const minimization: Evidence = {
  met: 'Photos and frames are kept nowhere; captures stay as vectors for 24 hours; users are pseudonyms in database, log and audit log.',
  tests: 'app/logging users/template-vault storage/conformance/expiry',
  documents: 'guides/privacy.md#what-is-kept',
}

export const retention: Evidence = {
  partly:
    'Captures, kept responses and sandbox users expire. References of production stay until your application calls delete, or until the policy of a tenant erases users whom nobody uses; no policy does so by default.',
  tests: 'storage/conformance/expiry api/sandbox-limits features/policies/inactive-users',
  documents: 'guides/privacy.md#what-is-kept guides/policy.md#erase-inactive-users',
}

export const capacity: Evidence = {
  met: 'Overload is refused at once, tenants wait in a fair queue, and a formula and a load test say what a machine carries.',
  tests: 'faults/overload faults/fairness biometrics/engine/fair-queue',
  documents: 'guides/sizing.md guides/load-testing.md',
}

export const recovery: Evidence = {
  partly:
    'Crashes, power cuts, full disks, lost nodes and restores are tried on the product. Try yours on your machines.',
  tests: 'faults/campaign powerloss/campaign chaos/campaign cli/backup',
  documents: 'internals/campaigns.md#proving-that-nothing-is-lost operations/runbooks.md',
}

export const changes: Evidence = {
  partly:
    'An upgrade is one transaction that fails whole, tried on a database of an earlier release; the changelog says what changes. Approving it is yours.',
  tests: 'releases/upgrade releases/commands cluster/upgrade',
  documents: 'upgrade-policy.md#upgrading internals/releasing.md',
}

export const testing: Evidence = {
  partly:
    'Rules, faults, hostile input and fuzzing are tested on every release. Nobody outside has tested or reviewed the code.',
  tests: 'hostile/campaign fuzz/campaign faults/campaign imports',
  documents: 'threat-model.md internals/campaigns.md#hostile-input internals/campaigns.md#fuzzing',
}

export const containment: Evidence = {
  partly:
    'Pictures are decoded in a process without keys and settings. It runs under the same user unless a container or unit limits it.',
  tests: 'biometrics/engine/engine deployment/container deployment/systemd',
  documents: 'threat-model.md#boundaries',
}

export const auditLog: Evidence = {
  partly:
    'Every production call and act is in a hash-chained log, verified daily. Only an anchor that you keep elsewhere shows that all of it was put back.',
  tests: 'audit/audit-log audit/break jobs/audit-verification cli/audit',
  documents: 'operations/audit-log.md',
}

export const monitoring: Evidence = {
  partly:
    'Metrics, alert rules and a runbook for each reason come with it. Loading the rules and answering the alerts is yours.',
  tests: 'http/metrics/metrics deployment/monitoring deployment/runbooks',
  documents: 'operations/monitoring.md operations/runbooks.md',
}

export const rights: Evidence = {
  met: 'Roles decide each route; keys of the API have scopes and networks; the last admin cannot be removed.',
  tests: 'dashboard/operators dashboard/people tenants/key-scopes http/access',
  documents:
    'guides/production.md#keys-for-parts-of-your-backend operations/operators.md#operators-with-names',
}
