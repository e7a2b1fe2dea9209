/** What all errors of the product have in common; importing it pulls nothing else in. */

/** An error that somebody is meant to read: `code` is stable, the message is a sentence for a person and may change. */
export class CodedError<Code extends string = string> extends Error {
  override readonly name: string = 'CodedError'

  constructor(
    readonly code: Code,
    message: string,
    /** The cause is for the log alone. */
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
