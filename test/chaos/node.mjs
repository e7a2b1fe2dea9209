/**
 * A service of the campaign: `countersign serve` with the configuration in the environment. The campaign sets its clock by replacing
 * JavaScript's `Date`, from which the service takes all time.
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
// The process that started it has ended, or was killed.
process.on('disconnect', () => process.exit(1))

process.argv.push('serve')
await import('../../dist/src/cli/main.js')
