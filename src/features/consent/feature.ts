/** Consents that a user gives after the enrollment: again, or to another text. */
import type { Feature } from '../feature.js'
import { recordConsent, recordConsentDescription } from './record-consent.js'

export const consent: Feature = {
  descriptions: [recordConsentDescription],
  attach: () => ({ endpoints: (services) => [recordConsent(services)] }),
}
