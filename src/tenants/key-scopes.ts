/** Scopes of API keys. This module imports nothing, so that the dashboard's pages can read the same list. */

export const SCOPES = ['verify', 'enroll', 'replace', 'recover', 'erase', 'read', 'audit', 'rotate'] as const
export type Scope = (typeof SCOPES)[number]

/** Meaning of each scope, in one sentence, for the documentation, the command line and the dashboard. */
export const SCOPE_MEANINGS: Record<Scope, string> = {
  verify:
    'Verify users, and look verifications up: also challenges, guidance and capture sessions for a verification.',
  enroll: 'Enroll new users: also challenges, guidance and capture sessions for an enrollment, and passkeys.',
  replace: 'Replace the reference of an enrolled user, or add photos to it; together with `enroll`.',
  recover:
    'Begin the recovery of a lost passkey: a verification for `recover_passkey`; together with `verify`.',
  erase: 'Erase users.',
  read: 'Look up whether a user is enrolled or locked out, and look verifications up.',
  audit: 'Read the audit log.',
  rotate: 'Rotate the signing secret.',
}

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text)
}

/** The scopes of a stored key, in the order of `SCOPES`; null for all scopes, those of later versions included. */
export function scopesOf({ scopes }: { scopes: string | null }): Scope[] | null {
  if (scopes === null) return null
  const held = scopes.split(' ')
  return SCOPES.filter((scope) => held.includes(scope))
}

/** Whether a key with these scopes holds one of the wanted ones. @param scopes null for all scopes */
export function holdsOneOf(scopes: readonly Scope[] | null, wanted: readonly Scope[]): boolean {
  return scopes === null || wanted.some((scope) => scopes.includes(scope))
}
