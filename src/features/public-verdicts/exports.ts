/** The part of public verdicts that other features may use: the life of keys that are published before they sign. */
export { isGone, signingKeyId, signingKeyViews } from './signing-keys.js'
