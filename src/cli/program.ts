/** The `countersign` command: hands each command to the file behind it. */
import { Command, CommanderError } from 'commander'
import { CONFIG_VARIABLE } from '../config/variables.js'
import { COMMIT, VERSION } from '../lib/version.js'
import { COMMANDS, type CommandEntry } from './commands.js'
import { EXIT, fail, UsageError } from './lib/output.js'

/** Runs one command line and leaves its exit code in `process.exitCode`. @param argv the words after the command's own name */
export async function runProgram(argv: readonly string[]): Promise<void> {
  // Looked up before parsing, because a command line that cannot be parsed is reported as JSON too.
  const isJson = argv.includes('--json')
  try {
    await (await createProgram(argv, isJson)).parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander throws for --help and --version too, with exit code 0.
    if (error.exitCode === 0) return
    if (isJson) fail(new UsageError('wrong_usage', usageMessage(error)), { json: true })
    else process.exitCode = EXIT.usage
  }
}

/** Makes the command line with the command that `argv` asks for. */
export async function createProgram(
  argv: readonly string[],
  isJson: boolean,
  commands: readonly CommandEntry[] = COMMANDS,
): Promise<Command> {
  const program = new Command('countersign')
    .description('Self-hosted biometric step-up verification.')
    .version(await describeBuild(argv))
    .showHelpAfterError('(run with --help for usage)')
    .addHelpText(
      'after',
      `
Configuration is read from COUNTERSIGN_* environment variables and the file that --config or COUNTERSIGN_CONFIG names.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 compare: not the same person.

Examples:
  countersign serve --demo
  countersign tenant create acme --rate-limit 50/s --json
  countersign compare alice.jpg alice-today.jpg`,
    )
    .configureOutput(isJson ? { writeErr: () => {} } : {})
    .exitOverride()

  // The first word that is not an option, or the second one behind `help`.
  const words = argv.filter((argument) => !argument.startsWith('-'))
  const asked = words[0] === 'help' ? words[1] : words[0]
  for (const { usage, description, load, isWithoutConfig } of commands) {
    const command = program.command(usage).description(description)
    // Other commands are only listed, except for a completion script, which needs the options of all.
    if (asked !== command.name() && asked !== 'completion') continue
    ;(await load())(command)
    for (const leaf of leaves(command)) {
      if (!isWithoutConfig) leaf.option('--config <file>', `configuration file (default: ${CONFIG_VARIABLE})`)
      leaf.showHelpAfterError(`Usage: ${leaf.createHelp().commandUsage(leaf)}\n(run with --help for more)`)
    }
  }
  program.hook('preAction', (_, command) => {
    const { config } = command.opts<{ config?: string }>()
    if (config) process.env[CONFIG_VARIABLE] = config
  })
  return program
}

/** Imported when asked for: each schema is in a file that loads a database driver. */
async function describeBuild(argv: readonly string[]): Promise<string> {
  if (!argv.some((argument) => argument === '--version' || argument === '-V')) return VERSION
  try {
    const { databaseKinds } = await import('../app/database.js')
    const schemas = await Promise.all(
      databaseKinds().map(async ({ name, schema }) => `${await schema()} with ${name}`),
    )
    return `${VERSION} (commit ${COMMIT}, schema ${schemas.join(', ')})`
  } catch {
    // A package is missing; `countersign doctor` reports which.
    return `${VERSION} (commit ${COMMIT})`
  }
}

function leaves(command: Command): Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(leaves) : [command]
}

function usageMessage({ code, message }: CommanderError): string {
  // Every command knows --json. Where it is unknown, the command itself is missing.
  const isIncomplete = code === 'commander.help' || message.includes("unknown option '--json'")
  return isIncomplete
    ? 'A command is missing before --json; --help lists them.'
    : message.replace(/^error: /, '')
}
