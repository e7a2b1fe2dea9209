/** What is tried, and as whom. */
export interface Trial {
  tenantId: string
  operation: 'enroll' | 'verify'
  apiKey: string
  userId: string
}

/** A sentence that asks for the missing field; null where nothing is missing. */
export function missingText({ apiKey, userId }: Trial): string | null {
  if (!apiKey) return 'Type an API key above first.'
  return userId ? null : 'Type a user id above first.'
}

/** What a verdict that is tried is about. */
export const TRIED_ACTION = { type: 'dashboard_try' }
