/** A service's sender alone, in a process that a test can kill: with the configuration in the environment, and no engine. */
const { loadConfig } = await import('../../dist/src/config/config.js')
const { systemClock } = await import('../../dist/src/lib/clock.js')
const { createLog } = await import('../../dist/src/lib/log.js')
const { openLedger } = await import('../../dist/src/app/core.js')
const { Duty } = await import('../../dist/src/cluster/leader-lease.js')
const { WebhookSender } = await import('../../dist/src/webhooks/webhook-sender.js')

const config = loadConfig()
const log = createLog(config)
const ledger = await openLedger(config, systemClock, { serving: true })
const duty = new Duty(ledger.store, log)
await duty.start()
new WebhookSender({ ...ledger, clock: systemClock, log, duty, observe() {} }).start()
// The timers of a sender keep no process alive.
setInterval(() => {}, 60_000)
