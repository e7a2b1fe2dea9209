/** The `countersign` command: dispatches to one file a command. */
import { Command, CommanderError } from 'commander'
import { SETTINGS } from '../config.js'
import { VERSION } from '../version.js'
import { EXIT, fail, UsageError } from './output.js'

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
  config: async () => (await import('./config.js')).registerConfigCommands,
  'operator-password': async () => (await import('./operator-password.js')).registerOperatorPasswordCommand,
  completion: async () => (await import('./completion.js')).registerCompletionCommand,
  doctor: async () => (await import('./doctor.js')).registerDoctorCommand,
}

/** They open no configuration. */
const WITHOUT_CONFIG: ReadonlySet<string> = new Set(['jwt', 'operator-password', 'completion'])

/** Leaves how it ended in `process.exitCode`. @param argv what follows the command's own name */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // Asked before anything is parsed, because what cannot be parsed is told as JSON too.
  const isJson = argv.includes('--json')
  try {
    await (await createProgram(argv[0], isJson)).parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander leaves by here for --help and --version too, with exit code 0.
    if (error.exitCode === 0) return
    if (isJson) fail(new UsageError('wrong_usage', usageMessage(error)), { json: true })
    else process.exitCode = EXIT.usage
  }
}

async function createProgram(name: string | undefined, isJson: boolean): Promise<Command> {
  const program = new Command('countersign')
    .description('Self-hosted biometric step-up verification.')
    .version(VERSION)
    .showHelpAfterError('(run with --help for usage)')
    .addHelpText(
      'after',
      `
Configuration is read from COUNTERSIGN_* environment variables and the file that --config or COUNTERSIGN_CONFIG names.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage.

Examples:
  countersign serve --demo
  countersign tenant create acme --rate-limit 50/s --json
  countersign compare alice.jpg alice-today.jpg`,
    )
    .configureOutput(isJson ? { writeErr: () => {} } : {})
    .exitOverride()

  const wanted = COMMANDS[name ?? '']
  // A completion script names them all.
  const isAlone = wanted !== undefined && wanted !== COMMANDS.completion
  for (const load of isAlone ? [wanted] : Object.values(COMMANDS)) (await load())(program)

  for (const command of leaves(program))
    if (!WITHOUT_CONFIG.has(command.name()))
      command.option('--config <file>', `configuration file (default: ${SETTINGS.configFile.variable})`)
  program.hook('preAction', (_, command) => {
    const { config } = command.opts<{ config?: string }>()
    if (config) process.env[SETTINGS.configFile.variable] = config
  })
  return program
}

function leaves(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
}

function usageMessage({ code, message }: CommanderError): string {
  // Every command knows --json: where it is unknown, as where only the help could be shown, the command itself is missing.
  const isIncomplete = code === 'commander.help' || message.includes("unknown option '--json'")
  return isIncomplete
    ? 'A command is missing before --json; --help lists them.'
    : message.replace(/^error: /, '')
}
