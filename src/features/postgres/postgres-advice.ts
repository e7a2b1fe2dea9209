/** Advice for an operator when PostgreSQL cannot be used. The reason itself stays in the words of the server, Node or pg. */

import { docPath } from '../../lib/doc-path.js'
import type { PostgresTarget } from './postgres-url.js'

interface Failure extends Error {
  /** SQLSTATE, or Node's code of a system or TLS error. */
  code?: string
  path?: string
}

const UNREACHABLE = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']
/** Codes of OpenSSL for a chain that ends at an unknown authority. */
const UNKNOWN_AUTHORITY = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** @returns a sentence; undefined when the reason says enough */
export function postgresRemedy(
  cause: unknown,
  target: PostgresTarget,
  passwordFile?: string,
): string | undefined {
  const failure: Failure = cause instanceof AggregateError ? cause.errors[0] : (cause as Failure)
  const { code = '', message } = failure
  const { database, user, rootCertFile } = target
  if (passwordFile !== undefined && failure.path === passwordFile)
    return 'COUNTERSIGN_DATABASE_PASSWORD_FILE names that file.'
  // This message of pg means that there is no password.
  if (message.includes('client password must be a'))
    return passwordFile === undefined
      ? 'The server asks for a password: name a file with it in COUNTERSIGN_DATABASE_PASSWORD_FILE.'
      : `The server asks for a password, and ${passwordFile} is empty.`
  if (code === '28P01')
    return `The password came from ${passwordFile ?? 'COUNTERSIGN_DATABASE'}. ALTER ROLE "${user}" PASSWORD '…' sets another one; PostgreSQL refuses a missing role in the same words.`
  if (code.startsWith('28'))
    return message.includes('Peer')
      ? `Over its socket the server accepts only the system user "${user}": name 127.0.0.1 in COUNTERSIGN_DATABASE, or change pg_hba.conf.`
      : "The server's pg_hba.conf decides which users may connect, from where, and with or without TLS."
  if (code === '3D000')
    return `CREATE DATABASE "${database}" OWNER "${user}" creates it: ${docPath('postgresql.md#connect')}`
  if (UNREACHABLE.includes(code) || /timeout expired|connection timeout/.test(message))
    return 'Check that PostgreSQL is running, that it listens on this address and port, and that no firewall blocks it.'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return 'Check the spelling of the host in COUNTERSIGN_DATABASE.'
  if (message.includes('does not support SSL'))
    return 'Turn TLS on at the server (ssl = on). On a network that nobody else uses, sslmode=disable connects without it.'
  if (UNKNOWN_AUTHORITY.includes(code))
    return rootCertFile === undefined
      ? "sslrootcert=<file> in COUNTERSIGN_DATABASE names the authority of the server's certificate."
      : `${rootCertFile} (sslrootcert) does not hold the authority of the server's certificate.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Write the host in COUNTERSIGN_DATABASE as the certificate names it; sslmode=verify-ca checks only the authority.'
  return message.startsWith('Connection terminated')
    ? 'Check that it is PostgreSQL that listens there.'
    : undefined
}
