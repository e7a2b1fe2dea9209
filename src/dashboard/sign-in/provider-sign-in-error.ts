/** A failed sign-in by the provider. Its code leads the browser to a page; its message goes only to the log. */
import type { ProviderProblem } from '../constants.js'

export class ProviderSignInError extends Error {
  override readonly name = 'ProviderSignInError'

  constructor(
    readonly code: ProviderProblem,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options)
  }
}
