/** Explains in words why a sign-in by the provider failed. */
import { PROVIDER_PROBLEMS, PROVIDER_SIGN_IN, type ProviderProblem } from '../contract.js'

const TEXTS: Record<ProviderProblem, string> = {
  not_begun_here: 'It was not begun in this browser, or more than ten minutes ago. Begin again.',
  provider_unreachable: 'The provider cannot be reached, or is not set up as it should be. Try again later.',
  provider_refused: 'The provider refused it, or you cancelled it there.',
  invalid_answer: "The provider's answer is not valid, or was used already. Begin again.",
  nameless: 'The provider does not say, or does not vouch for, the name by which people are known here.',
  unknown_person: 'Nobody has added you here. Ask an admin to.',
  tenant_suspended: 'Your tenant is suspended: nobody signs in for it before the operator resumes it.',
  not_fresh:
    'The provider does not say that you signed in just now. It has to honour max_age and to tell auth_time.',
  too_many_sign_ins: 'There were too many sign-ins from this address. Wait a minute, then begin again.',
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
