/** The cipher suites of every TLS listener: those with forward secrecy and authenticated encryption, as all of TLS 1.3 have. */

/**
 * Suites of TLS 1.2, in the order of preference, by the names that OpenSSL and BoringSSL share. Each makes its keys by an ephemeral
 * Diffie-Hellman exchange, so that a private key that is stolen later opens no recorded connection (RFC 9325, section 4.2).
 */
export const TLS12_SUITES = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** Node turns TLS 1.3 off where a list names none of its suites; BoringSSL always offers all three. */
export const NODE_SUITES = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  TLS12_SUITES,
].join(':')
