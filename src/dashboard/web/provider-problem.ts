/** Explains in words why a sign-in by the provider failed. */
import { PROVIDER_PROBLEMS, PROVIDER_SIGN_IN, type ProviderProblem } from '../constants.js'

const TEXTS: Record<ProviderProblem, string> = {
  not_begun_here:
    'The sign-in did not start in this browser, or started more than ten minutes ago. Start again.',
  provider_unreachable: 'The provider cannot be reached, or is not set up correctly. Try again later.',
  provider_refused: 'The provider refused the sign-in, or you canceled it there.',
  invalid_answer: "The provider's answer is not valid, or was already used. Start again.",
  nameless: 'The provider does not send a verified value for the claim that names people here.',
  unknown_person: 'You have no account here. Ask an admin to add you.',
  tenant_suspended: 'Your tenant is suspended. Nobody can sign in until the operator resumes it.',
  not_fresh: 'The provider does not confirm a recent sign-in. It must support max_age and send auth_time.',
  too_many_sign_ins: 'There were too many sign-ins from this address. Wait a minute, then start again.',
  internal_error: 'Something went wrong in the service.',
}
const REQUEST_ID = /^[0-9a-f-]{36}$/

export const isProviderProblem = (route: string[]) => route[0] === PROVIDER_SIGN_IN

/** Returns the explanation, or null when the address names no failure. Of the address, only the request id is shown. */
export function providerProblem(route: string[]): string | null {
  if (!isProviderProblem(route)) return null
  const problem = PROVIDER_PROBLEMS.find((known) => known === route[1]) ?? 'internal_error'
  const requestId = REQUEST_ID.test(route[2] ?? '') ? ` In the service's log: request ${route[2]}.` : ''
  return `You were not signed in. ${TEXTS[problem]}${requestId}`
}
