#!/usr/bin/env node
/** The `countersign` command as a process. */
import { EXIT } from './lib/output.js'
import { runProgram } from './program.js'

/** Node's exit code for a process that awaits something which nothing can end any more. */
const NEVER_ENDED = 13

// Report a command that cannot end instead of exiting silently.
process.once('exit', (code) => {
  if (code !== NEVER_ENDED) return
  process.stderr.write(
    'error: The command stopped before it was done. This is a bug in Countersign; please report it.\n',
  )
  process.exitCode = EXIT.failed
})
await runProgram(process.argv.slice(2))
