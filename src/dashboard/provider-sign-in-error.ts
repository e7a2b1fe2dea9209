/** A sign-in by the provider that failed: its code leads the browser to a page, its message is for the log alone. */
import { CodedError } from '../lib/errors.js'
import type { ProviderProblem } from './contract.js'

export class ProviderSignInError extends CodedError<ProviderProblem> {
  override readonly name = 'ProviderSignInError'
}
