/** Runs only the webhook sender of a service, without an engine, in a process that a test can kill. Reads its settings from the environment. */
const { loadConfig } = await import('../../dist/src/app/configuration.js')
const { systemClock } = await import('../../dist/src/lib/clock.js')
const { createLog } = await import('../../dist/src/app/log.js')
const { openCore } = await import('../../dist/src/app/core.js')
const { LeaderLease } = await import('../../dist/src/cluster/leader-lease.js')
const { WebhookSender } = await import('../../dist/src/features/webhooks/webhook-sender.js')

const config = loadConfig()
const log = createLog(config)
const core = await openCore(config, systemClock, { serving: true })
const leaderLease = new LeaderLease(core.store, log)
await leaderLease.start()
new WebhookSender({ ...core, clock: systemClock, log, leaderLease, observe() {} }).start()
// The sender's timers keep no process alive.
setInterval(() => {}, 60_000)
