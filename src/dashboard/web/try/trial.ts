/** The key and the user with which the page "Try it" calls the API. */
export interface Trial {
  tenantId: string
  operation: 'enroll' | 'verify'
  apiKey: string
  userId: string
}

/** Returns a sentence that asks for the missing field, or null when none is missing. */
export function missingText({ apiKey, userId }: Trial): string | null {
  if (!apiKey) return 'Type an API key above first.'
  return userId ? null : 'Type a user id above first.'
}

/** The action that a tried verdict confirms. */
export const TRIED_ACTION = { type: 'dashboard_try' }
