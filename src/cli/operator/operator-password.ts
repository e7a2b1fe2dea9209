/** `countersign operator-password`: prints the hash for COUNTERSIGN_OPERATOR_PASSWORD and its file, or sets another password at once. */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import type { Command } from 'commander'
import { generatePassword, hashPassword, passwordWeakness } from '../../admin/accounts/password-hash.js'
import { resetOperatorPassword } from '../../dashboard/sign-in/operator-password.js'
import { declare } from '../lib/command.js'
import { CommandError, UsageError } from '../lib/output.js'
import { readStandardInput } from '../lib/read-input.js'
import { withCore } from '../with-core.js'

export function registerOperatorPasswordCommand(command: Command): void {
  declare(command, '', {
    options: {
      '--generate': 'generate the password',
      '--reset':
        "replace the operator's password by a generated one, print it, and end the operator's sessions",
    },
    async answer({ generate, reset }): Promise<{ password?: string; hash?: string }> {
      if (reset && generate)
        throw new UsageError('wrong_usage', '--reset always generates the password. Leave --generate out.')
      if (reset) return { password: await resetPassword() }
      const password = generate ? generatePassword() : await askForPassword()
      const hash = await hashPassword(password)
      return generate ? { password, hash } : { hash }
    },
    text: ({ password, hash }) => hash ?? password!,
    remark({ password }, { generate, reset }) {
      if (reset) return "The operator's new password, shown only now. Sessions with the old one have ended."
      return generate ? `The password, shown only now:\n\n  ${password}\n` : null
    },
  })
}

/** Sets another password. A running service uses it from the next sign-in on and ends the sessions of the old one. */
function resetPassword(): Promise<string> {
  return withCore(async ({ operations, store, actor }, config) => {
    const made = await resetOperatorPassword(config, store.shared)
    await operations.operators.recordPasswordReset(actor)
    return made
  })
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
