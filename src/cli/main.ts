#!/usr/bin/env node
/** The `countersign` command: dispatches to one file a command. */
import { Command } from 'commander'
import { VERSION } from '../version.js'
import { registerCompareCommand } from './compare.js'
import { registerDoctorCommand } from './doctor.js'
import { registerEvaluateCommand } from './evaluate.js'
import { registerMaintenanceCommands } from './maintenance.js'
import { registerModelsCommands } from './models.js'
import { EXIT } from './output.js'
import { registerServeCommand } from './serve.js'
import { registerTenantCommands } from './tenant.js'

const program = new Command('countersign')
  .description('Self-hosted biometric step-up verification.')
  .version(VERSION)
  .showHelpAfterError('(run with --help for usage)')
  .addHelpText(
    'after',
    `
Configuration is read from COUNTERSIGN_* environment variables; see README.md.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.

Examples:
  countersign serve --demo
  countersign tenant create acme --rate-limit 50/s --json
  countersign compare alice.jpg alice-today.jpg`,
  )
  .exitOverride((error) => {
    // Commander leaves by here for --help and --version too, with exit code 0.
    process.exit(error.exitCode === 0 ? EXIT.ok : EXIT.usage)
  })

registerServeCommand(program)
registerTenantCommands(program)
registerCompareCommand(program)
registerEvaluateCommand(program)
registerModelsCommands(program)
registerMaintenanceCommands(program)
registerDoctorCommand(program)

await program.parseAsync()
