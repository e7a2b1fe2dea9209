/**
 * Loaded before a process that a test starts (`leash.ts`): ends that process once the test's own process is gone, however it
 * ended. A test that is killed runs no clean-up, and a writer that it started would go on writing.
 */
import './quick-scrypt.mjs'

const POLL_MS = 500

const parent = Number(new URL(import.meta.url).searchParams.get('parent'))

setInterval(() => {
  try {
    // Signal 0 is not delivered: it only asks whether the process exists.
    process.kill(parent, 0)
  } catch (error) {
    if (error.code === 'ESRCH') process.kill(process.pid, 'SIGKILL')
  }
}, POLL_MS).unref()
