/** What is tried, and as whom. */
export interface Trial {
  tenantId: string
  operation: 'enroll' | 'verify'
  apiKey: string
  userId: string
}

/** What a verdict that is tried is about. */
export const TRIED_ACTION = { type: 'dashboard_try' }
