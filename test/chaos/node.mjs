/**
 * A service of the campaign: `countersign serve` with the configuration in the environment, whose clock the campaign sets. All time of the service comes from JavaScript's `Date`, so that nothing has to be preloaded for it.
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

process.argv.push('serve')
await import('../../dist/src/cli/main.js')
