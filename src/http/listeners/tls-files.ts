/** Checks a certificate and its key as a TLS server would use them, so that problems are reported before a client connects. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { ConfigError } from '../../config/config-error.js'
import { DAY_MS } from '../../lib/clock.js'

/** Long enough to have another certificate issued. */
const EXPIRES_SOON_MS = 21 * DAY_MS
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g

export interface TlsFiles {
  certFile: string
  keyFile: string
  /** File with the authorities whose client certificates are accepted; undefined where none are. */
  clientCaFile?: string | undefined
}

export interface TlsReport {
  /** Earliest expiry in the chain, in milliseconds since the epoch; null where the chain cannot be read. */
  expiresAt: number | null
  /** Problems that keep TLS from working, a sentence each. */
  problems: string[]
  /** Reasons why TLS may soon stop working, a sentence each. */
  warnings: string[]
}

/** @param now milliseconds since the epoch */
export function examineTls({ certFile, keyFile, clientCaFile }: TlsFiles, now: number): TlsReport {
  const report: TlsReport = { expiresAt: null, problems: [], warnings: [] }
  const chain = attempt(report, `The TLS certificate ${certFile} cannot be used`, () => readChain(certFile))
  const key = attempt(report, `The TLS key ${keyFile} cannot be used`, () =>
    createPrivateKey(readFileSync(keyFile)),
  )
  if (clientCaFile)
    attempt(report, `The authorities of client certificates ${clientCaFile} cannot be used`, () =>
      readChain(clientCaFile),
    )
  if (chain) judgeChain(report, chain, certFile, now)
  if (chain && key && !chain[0]!.checkPrivateKey(key))
    report.problems.push(`The TLS key ${keyFile} does not belong to the certificate ${certFile}.`)
  return report
}

/** Checks files before a running listener uses them. @throws ConfigError that names each problem */
export function assertUsable(files: TlsFiles, now: number): void {
  const { problems } = examineTls(files, now)
  if (problems.length > 0) throw new ConfigError(problems)
}

/** @returns the names in a certificate that is not valid for the host; null where it is valid, or cannot be read */
export function namesOtherThan(certFile: string, host: string): string | null {
  let leaf: X509Certificate
  try {
    leaf = readChain(certFile)[0]!
  } catch {
    return null
  }
  if ((isIP(host) ? leaf.checkIP(host) : leaf.checkHost(host)) !== undefined) return null
  return (leaf.subjectAltName ?? leaf.subject).replaceAll('\n', ', ')
}

function readChain(certFile: string): X509Certificate[] {
  const blocks = readFileSync(certFile, 'utf8').match(CERTIFICATE)
  if (!blocks) throw new Error('it holds no certificate in PEM')
  return blocks.map((block) => new X509Certificate(block))
}

function judgeChain(report: TlsReport, chain: X509Certificate[], certFile: string, now: number): void {
  report.expiresAt = Math.min(...chain.map(({ validTo }) => Date.parse(validTo)))
  const expiry = new Date(report.expiresAt).toISOString().slice(0, 10)
  if (report.expiresAt <= now) report.problems.push(`The TLS certificate ${certFile} expired on ${expiry}.`)
  else if (report.expiresAt - now < EXPIRES_SOON_MS)
    report.warnings.push(`The TLS certificate ${certFile} expires on ${expiry}.`)
  if (chain.some(({ validFrom }) => Date.parse(validFrom) > now))
    report.problems.push(`The TLS certificate ${certFile} is not valid yet.`)
  const stray = chain.findIndex((certificate, i) => i > 0 && !chain[i - 1]!.checkIssued(certificate))
  if (stray > 0)
    report.problems.push(
      `Certificate ${stray + 1} of ${certFile} did not issue the one before it: the chain must run from the server's own certificate upwards.`,
    )
}

function attempt<T>(report: TlsReport, what: string, work: () => T): T | null {
  try {
    return work()
  } catch (error) {
    report.problems.push(`${what}: ${(error as Error).message}.`)
    return null
  }
}
