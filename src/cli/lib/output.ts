/** How commands print: JSON for programs on stdout, text for people, notes and errors on stderr; one exit for every failure. */
import { ConfigError } from '../../config/config-error.js'
import { CodedError } from '../../lib/errors.js'
import { paint, printable } from './style.js'

/** 0 done; 1 refused or failed; 2 the command line itself was wrong; 3 done, and the two faces are not one person's. */
export const EXIT = { ok: 0, failed: 1, usage: 2, different: 3 } as const

export interface OutputOptions {
  json?: boolean
}

/** A failure whose message is meant for the operator. */
export class CommandError extends CodedError {
  override readonly name = 'CommandError'
}

/** What was typed cannot be meant: the exit code of wrong usage. */
export class UsageError extends CommandError {}

export function print(options: OutputOptions, data: unknown, text: () => string): void {
  process.stdout.write(options.json ? `${JSON.stringify(data)}\n` : `${text()}\n`)
}

/** For people only: never mixes with what a program reads. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Prints the failure and sets the exit code; the process ends when its handles are closed. */
export function fail(error: unknown, options: OutputOptions): void {
  const code = codeOf(error)
  const message = problemsOf(error).join('\n')
  process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed
  if (options.json) note(JSON.stringify({ error: { code, message } }))
  else
    for (const problem of problemsOf(error))
      note(`${paint('red', 'error:', process.stderr)} ${printable(problem)}`)
  if (code === 'internal_error' && error instanceof Error && !options.json) note(error.stack ?? '')
}

/** Wraps a command's action, so that every failure leaves by `fail`. Commander passes the options before the command. */
export function action<A extends unknown[]>(
  work: (...args: A) => Promise<void>,
): (...args: A) => Promise<void> {
  return async (...args) => {
    try {
      await work(...args)
    } catch (error) {
      fail(error, (args.at(-2) ?? {}) as OutputOptions)
    }
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  const message = error instanceof Error ? error.message : String(error)
  if (codeOf(error) !== 'internal_error') return [message]
  // What nobody foresaw is most often a part that is missing or made for another Node; the stack has the rest.
  return [`${message.split('\n')[0]}; \`countersign doctor\` tells whether the installation is whole`]
}

function codeOf(error: unknown): string {
  if (error instanceof CodedError) return error.code
  // What the operating system refuses (a path, a permission, a full disk) is for the operator to mend.
  if (error instanceof Error && 'syscall' in error) return 'system_error'
  return 'internal_error'
}
