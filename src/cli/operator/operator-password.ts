/** `countersign operator-password`: prints the hash for COUNTERSIGN_OPERATOR_PASSWORD and its file, or sets another password at once. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { generatePassword, hashPassword, passwordWeakness } from '../../admin/accounts/password-hash.js'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { resetOperatorPassword } from '../../dashboard/sign-in/operator-password.js'
import { action, CommandError, note, type OutputOptions, print, UsageError } from '../lib/output.js'
import { readStandardInput } from '../lib/standard-input.js'
import { withCore } from '../with-core.js'

interface PasswordOptions extends OutputOptions {
  generate?: boolean
  reset?: boolean
}

export function registerOperatorPasswordCommand(command: Command): void {
  command
    .option('--generate', 'generate the password')
    .option(
      '--reset',
      "replace the operator's password by a generated one, print it, and end the operator's sessions",
    )
    .option('--json', 'print JSON')
    .action(
      action(async (options: PasswordOptions) => {
        if (options.reset) return reset(options)
        const password = options.generate ? generatePassword() : await askForPassword()
        const hash = await hashPassword(password)
        print(options, options.generate ? { password, hash } : { hash }, () => hash)
        if (options.generate && !options.json) note(`The password, shown only now:\n\n  ${password}\n`)
      }),
    )
}

/** Sets another password. A running service uses it from the next sign-in on and ends the sessions of the old one. */
async function reset(options: PasswordOptions): Promise<void> {
  if (options.generate)
    throw new UsageError('wrong_usage', '--reset always generates the password. Leave --generate out.')
  const password = await withCore(async ({ operations, store }, config) => {
    const made = await resetOperatorPassword(config, store.shared)
    await operations.operators.recordPasswordReset(COMMAND_LINE)
    return made
  })
  print(options, { password }, () => password)
  if (!options.json)
    note("The operator's new password, shown only now. Sessions with the old one have ended.")
}

async function askForPassword(): Promise<string> {
  if (!process.stdin.isTTY) return checked(await readStandardInput())
  const terminal = hiddenInput()
  try {
    const password = checked(await terminal.ask('Password: '))
    if ((await terminal.ask('Again: ')) !== password)
      throw new CommandError('passwords_differ', 'The two passwords differ. Try again.')
    return password
  } finally {
    terminal.close()
  }
}

/** White space at the ends would be lost where the password itself is configured. */
function checked(password: string): string {
  if (password === '' || password !== password.trim() || /[\r\n]/.test(password))
    throw new CommandError(
      'unusable_password',
      'A password must be one line without white space at its ends.',
    )
  const weakness = passwordWeakness(password)
  if (weakness !== null)
    throw new CommandError('weak_password', `The password ${weakness}. To generate one: --generate`)
  return password
}

/** Reads lines from the terminal without echo. Questions go to stderr: stdout is for the hash. */
function hiddenInput() {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // `terminal: true` switches the echo off, wherever the output goes.
  const input = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  const lines = input[Symbol.asyncIterator]()
  return {
    async ask(question: string): Promise<string> {
      process.stderr.write(question)
      const { value, done } = await lines.next()
      process.stderr.write('\n')
      if (done) throw new CommandError('cancelled', 'No password was entered.')
      return value
    },
    close: () => input.close(),
  }
}
