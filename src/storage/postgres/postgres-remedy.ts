/** What an operator can do about a PostgreSQL that cannot be used: the reason itself is the server's, Node's or pg's, in their words. */
import type { PostgresTarget } from '../../config/postgres-url.js'

interface Failure extends Error {
  /** SQLSTATE, or Node's code of a system or TLS error. */
  code?: string
  path?: string
}

const UNREACHABLE = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']
/** OpenSSL's, of a chain that ends at nobody whom we know. */
const UNKNOWN_AUTHORITY = [
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

/** @returns a sentence; undefined where the reason says enough */
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
  // pg's way to say that there is none.
  if (message.includes('client password must be a'))
    return passwordFile === undefined
      ? 'The server asks for a password: name a file with it in COUNTERSIGN_DATABASE_PASSWORD_FILE.'
      : `The server asks for a password, and ${passwordFile} is empty.`
  if (code === '28P01')
    return `The password was that of ${passwordFile ?? 'COUNTERSIGN_DATABASE'}. ALTER ROLE "${user}" PASSWORD '…' gives the role another; a role that is not there is refused in the same words.`
  if (code.startsWith('28'))
    return message.includes('Peer')
      ? `By its socket the server lets in the system's user "${user}" alone: name 127.0.0.1 in COUNTERSIGN_DATABASE, or change pg_hba.conf.`
      : "The server's pg_hba.conf decides who comes in, from where, and with or without TLS."
  if (code === '3D000')
    return `CREATE DATABASE "${database}" OWNER "${user}" makes it: docs/postgresql.md, "Connect".`
  if (UNREACHABLE.includes(code) || /timeout expired|connection timeout/.test(message))
    return 'Is PostgreSQL running there, does it listen at this address and port, and does no firewall stand between?'
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'Is the host in COUNTERSIGN_DATABASE spelt right?'
  if (message.includes('does not support SSL'))
    return 'Turn TLS on at the server (ssl = on); sslmode=disable goes without, for a network that nobody else is on.'
  if (UNKNOWN_AUTHORITY.includes(code))
    return rootCertFile === undefined
      ? "sslrootcert=<file> in COUNTERSIGN_DATABASE names the authority of the server's certificate."
      : `${rootCertFile} (sslrootcert) does not hold the authority of the server's certificate.`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Write the host in COUNTERSIGN_DATABASE as the certificate names it; sslmode=verify-ca asks for the authority alone.'
  return message.startsWith('Connection terminated') ? 'Is it PostgreSQL that listens there?' : undefined
}
