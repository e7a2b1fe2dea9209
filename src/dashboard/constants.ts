/** Names that the pages and the service share. The pages are built from this file too, so that it imports nothing. */

export const TRIED_KEY_HEADER = 'X-Tried-Key'

/** Marks a request that a page repeats automatically. Such a request does not extend the session. */
export const BACKGROUND_HEADER = 'X-Background'

/** Prefix under which the admin listener serves the sandbox's API for the API reference; `/v1/…` follows it. */
export const SANDBOX_PATH = '/sandbox'

/**
 * The page to which a failed sign-in by the provider leads: `#/<PROVIDER_SIGN_IN>/<problem>/<request id>`. The problem is a word of the
 * list below, so that nobody can put their own text on the page by a link.
 */
export const PROVIDER_SIGN_IN = 'sign-in-failed'
export const PROVIDER_PROBLEMS = [
  'not_begun_here',
  'provider_unreachable',
  'provider_refused',
  'invalid_answer',
  'nameless',
  'unknown_person',
  'tenant_suspended',
  'not_fresh',
  'too_many_sign_ins',
  'internal_error',
] as const
export type ProviderProblem = (typeof PROVIDER_PROBLEMS)[number]
