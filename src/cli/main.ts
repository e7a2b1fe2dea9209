#!/usr/bin/env node
/** The `countersign` command as a process. */
import { runProgram } from './program.js'

await runProgram(process.argv.slice(2))
