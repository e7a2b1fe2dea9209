/**
 * Leaves many closed databases to the garbage collector, and idles: some versions of Node abort there with bindings that were
 * compiled against their unpatched headers. Run in the checkout; exits with 0 when it survives.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'

for (let i = 0; i < 300; i++) {
  const database = new Database(':memory:')
  database.pragma('user_version')
  database.prepare('SELECT 1').get()
  database.close()
}
const garbage = []
const allocate = setInterval(() => {
  garbage[0] = Array.from({ length: 2e5 }, (_, i) => ({ i }))
}, 50)
await sleep(2000)
clearInterval(allocate)
garbage.length = 0
// The collector runs after a while without work.
await sleep(10_000)
