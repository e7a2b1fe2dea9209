/**
 * A service of the campaign, as one of several: `countersign serve` with the configuration in the environment, whose clock the campaign
 * sets. All time of the service comes from JavaScript's `Date`, so that nothing has to be preloaded for it.
 */
let skewMs = 0
const { now } = Date
globalThis.Date = class extends Date {
  constructor(...parts) {
    super(...(parts.length > 0 ? parts : [now() + skewMs]))
  }

  static now() {
    return now() + skewMs
  }
}
process.on('message', (message) => {
  skewMs = message.skewMs
})
// Whoever started it is gone, or was killed.
process.on('disconnect', () => process.exit(1))

const { loadConfig } = await import('../../dist/src/config.js')
const { Service } = await import('../../dist/src/service.js')

const service = await Service.start(loadConfig(), { isOneOfSeveral: true })
process.on('SIGTERM', () => service.stop().then(() => process.exit(0)))
process.send({ isReady: true })
