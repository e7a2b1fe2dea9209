/** The part of public verdicts that other features may use: the life of keys that are published before they sign. */
export { type SigningKeyParts, SigningKeyRotation } from './signing-key-rotation.js'
export { type SigningKeyRecord, signingKeyTable } from './signing-key-table.js'
export { isGone, signingKeyId, signingKeyViews } from './signing-keys.js'
