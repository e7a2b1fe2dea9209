/** Certificates for tests, by the `openssl` that the machine has. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'

export const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']

/** `<name>.pem` and `<name>.key` in the folder. */
export class CertificateMaker {
  constructor(private readonly folder: string) {}

  at(file: string): string {
    return join(this.folder, file)
  }

  authority(name: string, subject = name): void {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`]
    this.openssl('req', '-x509', ...KEY, '-days', '90', ...files, '-subj', `/CN=${subject}`)
  }

  /** @param names such as `DNS:localhost` or `IP:127.0.0.1`; @param days negative for one that has expired */
  issue(
    name: string,
    issuer: string,
    { subject = name, names, days = 60 }: { subject?: string; names?: string; days?: number } = {},
  ): void {
    const extension = names === undefined ? [] : ['-addext', `subjectAltName=${names}`]
    const request = ['-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${subject}`]
    this.openssl('req', ...KEY, ...request, ...extension)
    const by = ['-CA', `${issuer}.pem`, '-CAkey', `${issuer}.key`, '-CAcreateserial']
    const copy = names === undefined ? [] : ['-copy_extensions', 'copy']
    this.openssl(
      'x509',
      '-req',
      ...['-in', `${name}.csr`, ...by, '-days', `${days}`, ...copy, '-out', `${name}.pem`],
    )
  }

  openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.folder, stdio: 'pipe' })
  }
}
