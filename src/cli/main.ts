#!/usr/bin/env node
/** The `countersign` command: dispatches to one file a command. */
import { Command } from 'commander'
import { VERSION } from '../version.js'
import { EXIT } from './output.js'

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

/** Loaded only when needed: the native addons behind some of them cost most of a short command's time. */
const COMMANDS: Record<string, () => Promise<(program: Command) => void>> = {
  serve: async () => (await import('./serve.js')).registerServeCommand,
  tenant: async () => (await import('./tenant.js')).registerTenantCommands,
  compare: async () => (await import('./compare.js')).registerCompareCommand,
  evaluate: async () => (await import('./evaluate.js')).registerEvaluateCommand,
  jwt: async () => (await import('./jwt.js')).registerJwtCommand,
  models: async () => (await import('./models.js')).registerModelsCommands,
  backup: async () => (await import('./backup.js')).registerBackupCommand,
  restore: async () => (await import('./backup.js')).registerRestoreCommand,
  audit: async () => (await import('./audit.js')).registerAuditCommands,
  keys: async () => (await import('./keys.js')).registerKeysCommands,
  doctor: async () => (await import('./doctor.js')).registerDoctorCommand,
}

const wanted = COMMANDS[process.argv[2] ?? '']
for (const load of wanted ? [wanted] : Object.values(COMMANDS)) (await load())(program)

await program.parseAsync()
