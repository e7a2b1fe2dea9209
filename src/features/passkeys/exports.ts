/** The part of passkeys that other features may use. */
export { passkeyField, passkeyOptions } from './passkey-options.js'
export { authenticationResponse, registrationResponse } from './passkey-schemas.js'
export { passkeyServices } from './passkey-services.js'
export { passkeySettings } from './passkey-settings.js'
