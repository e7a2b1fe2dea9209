/** `countersign operator-password`: the hash that COUNTERSIGN_OPERATOR_PASSWORD and its file take. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { generatePassword, hashPassword } from '../dashboard/operator-password.js'
import { action, CommandError, note, type OutputOptions, print } from './output.js'
import { readStandardInput } from './standard-input.js'

export function registerOperatorPasswordCommand(command: Command): void {
  command
    .option('--generate', 'make the password, too')
    .option('--json', 'print JSON')
    .action(
      action(async (options: OutputOptions & { generate?: boolean }) => {
        const password = options.generate ? generatePassword() : await askForPassword()
        const hash = await hashPassword(password)
        print(options, options.generate ? { password, hash } : { hash }, () => hash)
        if (options.generate && !options.json) note(`The password, shown only now:\n\n  ${password}\n`)
      }),
    )
}

async function askForPassword(): Promise<string> {
  if (!process.stdin.isTTY) return checked(await readStandardInput())
  const terminal = hiddenInput()
  try {
    const password = checked(await terminal.ask('Password: '))
    if ((await terminal.ask('Again: ')) !== password)
      throw new CommandError('passwords_differ', 'The two passwords are not the same.')
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
      'A password is one line, and no white space begins or ends it.',
    )
  return password
}

/** Lines from the terminal, which shows nothing of them. Questions go to stderr: stdout is for the hash. */
function hiddenInput() {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  // `terminal` switches the terminal's own echo off, wherever the output goes.
  const input = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  const lines = input[Symbol.asyncIterator]()
  return {
    async ask(question: string): Promise<string> {
      process.stderr.write(question)
      const { value, done } = await lines.next()
      process.stderr.write('\n')
      if (done) throw new CommandError('cancelled', 'No password was given.')
      return value
    },
    close: () => input.close(),
  }
}
