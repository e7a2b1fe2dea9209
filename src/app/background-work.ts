/** The work that a service does between requests: leader lease, membership, watches, retention, jobs of features. */
import { LeaderLease } from '../cluster/leader-lease.js'
import { Membership } from '../cluster/membership.js'
import type { Attached } from '../features/feature.js'
import { AuditVerification } from '../jobs/audit-verification.js'
import { ClockWatch } from '../jobs/clock-watch.js'
import { type Jobs, STOP_STEPS } from '../jobs/job.js'
import { RetentionJob } from '../jobs/retention.js'
import { DAY_MS } from '../lib/clock.js'
import { KeyWatch } from './key-watch.js'
import type { ServiceResources } from './resources.js'

export interface BackgroundWork {
  /** The parts that the features add to this service. */
  features: readonly Attached[]
  /** The jobs of core and features, but the key watch, lease and membership, which begin and end in an order of their own. */
  jobs: Jobs
  leaderLease: LeaderLease
  clockWatch: ClockWatch
  membership: Membership
  retention: RetentionJob
  keyWatch: KeyWatch
  auditVerification: AuditVerification
}

/** Builds the parts; none of them runs yet. */
export async function createBackgroundWork(resources: ServiceResources): Promise<BackgroundWork> {
  const { config, clock, log, core, engine, metrics, features: offered } = resources
  const { store } = core
  const leaderLease = new LeaderLease(store, log)
  const keyWatch = new KeyWatch(core, config, log)
  const reloadKeys = () => keyWatch.look()
  core.audit.observeBreaks(({ tenantId, sealedSequence, foundSequence }) => {
    metrics.countAuditBreak()
    log.error(
      { tenant_id: tenantId, sealed_sequence: sealedSequence, found_sequence: foundSequence },
      'an audit log was changed in the database: its end does not match its seal; run countersign audit verify',
    )
  })
  const host = {
    ...core,
    features: offered,
    config,
    clock,
    log,
    engine,
    metrics,
    leaderLease,
    reloadKeys,
  }
  const features = await Promise.all(offered.map((feature) => feature.attach?.(host) ?? {}))
  keyWatch.further = ofAll(features, 'takeOverKeys')
  const retention = new RetentionJob(store, clock, log, leaderLease, {
    sandboxRetentionMs: config.sandboxRetentionDays * DAY_MS,
    beforeExpiry: ofAll(features, 'beforeExpiry'),
    afterExpiry: [...ofAll(features, 'afterExpiry'), (isOn) => core.operations.modelSweep.advance(isOn)],
  })
  const auditVerification = new AuditVerification({ ...core, clock, log, leaderLease })
  const clockWatch = new ClockWatch(clock, log)
  const ownJobs: Jobs = { atOnce: [retention, auditVerification], drained: [clockWatch] }
  return {
    features,
    jobs: joined([ownJobs, ...features.map(({ jobs = {} }) => jobs)]),
    leaderLease,
    clockWatch,
    membership: new Membership(store, log),
    retention,
    keyWatch,
    auditVerification,
  }
}

/** The part of this name of each feature that has one. */
export function ofAll<K extends keyof Attached>(
  features: readonly Attached[],
  part: K,
): Array<NonNullable<Attached[K]>> {
  return features.map((feature) => feature[part]).filter((one) => one !== undefined) as Array<
    NonNullable<Attached[K]>
  >
}

function joined(all: readonly Jobs[]): Jobs {
  return Object.fromEntries(STOP_STEPS.map((step) => [step, all.flatMap((jobs) => jobs[step] ?? [])]))
}

/**
 * Starts everything but the key watch, which has to run before the first call is taken.
 * @param sharedSettings what has to be equal on all members of the cluster, by setting
 */
export async function startBackgroundWork(
  work: BackgroundWork,
  sharedSettings: Record<string, string>,
): Promise<void> {
  await work.membership.start(sharedSettings)
  await work.leaderLease.start()
  for (const step of STOP_STEPS) for (const job of work.jobs[step] ?? []) job.start()
}
