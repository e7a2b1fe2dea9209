/** Output of all commands: JSON for programs on stdout, text for people, notes and errors on stderr, and one exit for every failure. */
import { ConfigError } from '../../config/config-error.js'
import { ERRORS, type ErrorCode } from '../../contract/error-codes.js'
import { docPath } from '../../lib/doc-path.js'
import { DomainError } from '../../lib/domain-error.js'
import { CodedError } from '../../lib/errors.js'
import { OPERATOR_ERRORS, type OperatorErrorCode } from '../../lib/operator-errors.js'
import { paint, printable } from './style.js'

/** 0 done; 1 refused or failed; 2 wrong usage; 3 done, and the two faces are of different people. */
export const EXIT = { ok: 0, failed: 1, usage: 2, different: 3 } as const

/** A failure whose message is written for the operator. */
export class CommandError extends CodedError {}

/** Wrong usage: no such command line makes sense. */
export class UsageError extends CommandError {}

/** Prints for people only, on stderr, so that it never mixes with what a program reads. */
export function note(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** Prints the failure with its next step and sets the exit code. The process ends when its handles are closed. */
export function fail(error: unknown, options: { json?: boolean } = {}): void {
  const code = codeOf(error)
  const message = problemsOf(error).join('\n')
  const { remedy, doc } = adviceOn(error)
  process.exitCode = error instanceof UsageError ? EXIT.usage : EXIT.failed
  if (options.json) note(JSON.stringify({ error: { code, message, remedy, doc } }))
  else {
    for (const problem of problemsOf(error))
      note(`${paint('red', 'error:', process.stderr)} ${printable(problem)}`)
    note(`What to do: ${printable(remedy)}\nMore about it: ${doc}`)
  }
  if (code === 'internal_error' && error instanceof Error && !options.json) note(error.stack ?? '')
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof ConfigError) return error.problems
  const message = error instanceof Error ? error.message : String(error)
  // The stack of an unforeseen error has the details.
  return [codeOf(error) === 'internal_error' ? message.split('\n')[0]! : message]
}

/** The next step, and the page of the documentation on this machine that says more. */
function adviceOn(error: unknown): { remedy: string; doc: string } {
  const code = codeOf(error)
  if (code in OPERATOR_ERRORS) {
    const { remedy, page } = OPERATOR_ERRORS[code as OperatorErrorCode]
    return { remedy, doc: docPath(page) }
  }
  const remedy = error instanceof DomainError ? error.remedy : ERRORS[code as ErrorCode].remedy
  return { remedy, doc: docPath('errors.md') }
}

function codeOf(error: unknown): ErrorCode | OperatorErrorCode {
  if (error instanceof CodedError) return error.code
  // The operator can mend what the operating system refuses: a path, a permission, a full disk.
  if (error instanceof Error && 'syscall' in error) return 'system_error'
  return 'internal_error'
}
