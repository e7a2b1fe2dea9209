/** The part of the OpenID provider that other features may use. */

/** Its listener, to which the hosted capture page may always lead a person back. */
export const OPENID_LISTENER = 'openid'
