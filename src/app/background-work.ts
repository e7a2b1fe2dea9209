/** The work that a service does between requests: leader lease, membership, watches, retention, webhooks, saved counts. */
import { UPLOAD_MS } from '../capture-page/upload-time.js'
import { LeaderLease } from '../cluster/leader-lease.js'
import { Membership } from '../cluster/membership.js'
import { RequestLog } from '../dashboard/request-log.js'
import { Traffic } from '../dashboard/traffic.js'
import { DriftRecorder } from '../drift/drift-recorder.js'
import { DriftWatch } from '../drift/drift-watch.js'
import { AuditVerification } from '../jobs/audit-verification.js'
import { ClockWatch } from '../jobs/clock-watch.js'
import { RetentionJob } from '../jobs/retention.js'
import { ScheduledEpochRotation } from '../keys/scheduled-epoch-rotation.js'
import { VerdictKeySchedule } from '../keys/verdict-key-schedule.js'
import { DAY_MS, HOUR_MS } from '../lib/clock.js'
import { candidateOf } from '../shadow/candidate.js'
import { Shadow } from '../shadow/shadow.js'
import { ShadowRecorder } from '../shadow/shadow-recorder.js'
import type { TenantRecord } from '../storage/records.js'
import { decidingModel } from '../tenants/tenant-models.js'
import { EngineProvider } from '../verification/engine-provider.js'
import { CaptureSessionEvents } from '../webhooks/capture-session-events.js'
import { WebhookSender } from '../webhooks/webhook-sender.js'
import { KeyWatch } from './key-watch.js'
import type { ServiceResources } from './resources.js'

export interface BackgroundWork {
  leaderLease: LeaderLease
  clockWatch: ClockWatch
  membership: Membership
  captureEvents: CaptureSessionEvents
  retention: RetentionJob
  keyWatch: KeyWatch
  /** Null where no folder of epoch keys is configured. */
  epochRotation: ScheduledEpochRotation | null
  verdictKeySchedule: VerdictKeySchedule
  auditVerification: AuditVerification
  webhooks: WebhookSender
  /** Set where the OpenID provider has a listener, whose applications it serves. */
  openIdCallbacks?: { start(): void; stop(): Promise<void> }
  traffic: Traffic
  requestLog: RequestLog
  driftRecorder: DriftRecorder
  driftWatch: DriftWatch
  shadowRecorder: ShadowRecorder
  /** Null where there is no candidate. */
  shadow: Shadow | null
}

/** Builds the parts; none of them runs yet. `app/shutdown.ts` stops them. */
export function createBackgroundWork(resources: ServiceResources): BackgroundWork {
  const { config, clock, log, core, engine, metrics } = resources
  const { store } = core
  const modelOf = (tenant: TenantRecord) => decidingModel(tenant, engine.pack.modelId, engine.packs)
  const leaderLease = new LeaderLease(store, log)
  const keyWatch = new KeyWatch(core, config, log)
  const captureEvents = new CaptureSessionEvents(
    { ...core, clock },
    // A capture that was sent in time is uploaded and judged by then.
    UPLOAD_MS + config.deadlineMs,
  )
  core.audit.observeBreaks(({ tenantId, sealedSequence, foundSequence }) => {
    metrics.countAuditBreak()
    log.error(
      { tenant_id: tenantId, sealed_sequence: sealedSequence, found_sequence: foundSequence },
      'an audit log was changed in the database: its end does not match its seal; run countersign audit verify',
    )
  })
  const shadowRecorder = new ShadowRecorder({ store, clock, log })
  return {
    leaderLease,
    clockWatch: new ClockWatch(clock, log),
    membership: new Membership(store, log),
    captureEvents,
    retention: new RetentionJob(store, clock, log, leaderLease, {
      sandboxRetentionMs: config.sandboxRetentionDays * DAY_MS,
      requestLogMs: config.requestLogDays * DAY_MS,
      reportExpired: (isOn) => captureEvents.reportExpired(isOn),
      advanceModels: (isOn) => core.operations.modelSweep.advance(isOn),
      eraseInactive: (isOn) => core.operations.inactiveUsers.run(isOn),
    }),
    keyWatch,
    epochRotation: createEpochRotation(resources, keyWatch, leaderLease),
    verdictKeySchedule: new VerdictKeySchedule({
      store,
      clock,
      log,
      leaderLease,
      rotation: core.verdictKeyRotation,
      intervalMs: config.verdictKeyDays * DAY_MS,
      reloadKeys: () => keyWatch.look(),
    }),
    auditVerification: new AuditVerification({ ...core, clock, log, leaderLease }),
    webhooks: new WebhookSender({
      ...core,
      clock,
      log,
      leaderLease,
      observe: metrics.countWebhookAttempt,
    }),
    traffic: new Traffic(store, clock, log),
    requestLog: new RequestLog({ ...core, clock, log, config }),
    driftRecorder: new DriftRecorder({ store, clock, log, modelOf }),
    driftWatch: new DriftWatch({
      store,
      clock,
      log,
      leaderLease,
      modelOf,
      calibrationOf: (model) => engine.packs.get(model)?.calibration,
    }),
    shadowRecorder,
    shadow: createShadow(resources, shadowRecorder),
  }
}

function createShadow(
  { config, core, engine, log, metrics }: ServiceResources,
  recorder: ShadowRecorder,
): Shadow | null {
  const candidate = candidateOf(config, engine.packs.values())
  if (!candidate) return null
  return new Shadow({
    candidate,
    config,
    log,
    recorder,
    vault: core.vault,
    store: core.store,
    provider: new EngineProvider(engine),
    observer: metrics.shadow,
    hasPlace: () => engine.hasSparePlace,
  })
}

function createEpochRotation(
  { config, core, clock, log }: ServiceResources,
  keyWatch: KeyWatch,
  leaderLease: LeaderLease,
): ScheduledEpochRotation | null {
  const { folder } = keyWatch
  if (!folder) return null
  return new ScheduledEpochRotation({
    ...core,
    folder,
    clock,
    log,
    leaderLease,
    intervalMs: config.epochHours * HOUR_MS,
    retentionMs: config.epochRetentionHours * HOUR_MS,
    reloadKeys: () => keyWatch.look(),
  })
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
  work.retention.start()
  work.auditVerification.start()
  work.webhooks.start()
  work.openIdCallbacks?.start()
  work.epochRotation?.start()
  work.verdictKeySchedule.start()
  work.traffic.start()
  work.requestLog.start()
  work.driftRecorder.start()
  work.driftWatch.start()
  work.shadowRecorder.start()
  work.clockWatch.start()
}
