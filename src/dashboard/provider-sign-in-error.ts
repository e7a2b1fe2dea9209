/** A failed sign-in by the provider. Its code leads the browser to a page; its message goes only to the log. */
import { CodedError } from '../lib/errors.js'
import type { ProviderProblem } from './contract.js'

export class ProviderSignInError extends CodedError<ProviderProblem> {
  override readonly name = 'ProviderSignInError'
}
