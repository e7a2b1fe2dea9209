/** Type of a verdict in its header (RFC 8725, section 3.11): no other token passes for one. */
export const TOKEN_TYPE = 'stepup+jwt'
