/** The base class of all errors of the product. Importing it loads nothing else. */
import type { ErrorCode } from '../contract/error-codes.js'
import type { OperatorErrorCode } from './operator-errors.js'

/** Codes of both registries, each of which has a next step for its reader. */
type AnyErrorCode = ErrorCode | OperatorErrorCode

/** An error that a person reads: `code` is stable, and the message is a sentence that may change. */
export class CodedError<Code extends AnyErrorCode = AnyErrorCode> extends Error {
  /** The name of the class. */
  override readonly name: string

  constructor(
    readonly code: Code,
    message: string,
    /** The cause is only logged. */
    options?: { cause?: unknown },
  ) {
    super(message, options)
    this.name = new.target.name
  }
}
