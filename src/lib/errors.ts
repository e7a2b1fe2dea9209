/** The base class of all errors of the product. Importing it loads nothing else. */

/** An error that a person reads: `code` is stable, and the message is a sentence that may change. */
export class CodedError<Code extends string = string> extends Error {
  override readonly name: string = 'CodedError'

  constructor(
    readonly code: Code,
    message: string,
    /** The cause is only logged. */
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
