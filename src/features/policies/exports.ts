/** The part of policies that other features may use. */
export { assertCaptureMeets } from './policy-check.js'
export { policyServices } from './policy-services.js'
