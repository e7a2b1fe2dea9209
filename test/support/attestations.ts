/** Makers of authenticators: an authority in a folder of its own, and the certificates with which it attests a model. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attestation } from './authenticator.js'
import { CertificateMaker, KEY } from './certificates.js'

/** The model of `SoftwareAuthenticator`. */
export const MODEL = '0a1b2c3d-0000-4000-8000-00000000c0de'

export interface Maker {
  /** The authority in PEM, as an operator names it. */
  root: string
  file: string
  /** @param days negative for a certificate that has expired */
  attest(aaguid?: string | null, days?: number): Attestation
  remove(): void
}

export function maker(name = 'Maker'): Maker {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-maker-'))
  const certificates = new CertificateMaker(folder)
  const at = (file: string) => certificates.at(file)
  certificates.authority('ca', name)
  const root = readFileSync(at('ca.pem'), 'utf8')
  const made = new Map<string, Attestation>()
  const attest = (aaguid: string | null = MODEL, days = 60): Attestation => {
    const name = `${aaguid} ${days}`
    const attestation = made.get(name) ?? issue(aaguid, days)
    made.set(name, attestation)
    return attestation
  }
  const issue = (aaguid: string | null, days: number): Attestation => {
    const model = aaguid && `1.3.6.1.4.1.45724.1.1.4=DER:0410${aaguid.replaceAll('-', '')}\n`
    writeFileSync(at('leaf.ext'), `basicConstraints=critical,CA:FALSE\n${model ?? ''}`)
    const subject = `/C=SE/O=${name}/OU=Authenticator Attestation/CN=Key`
    certificates.openssl('req', ...KEY, '-keyout', 'leaf.key', '-out', 'leaf.csr', '-subj', subject)
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-extfile', 'leaf.ext']
    certificates.openssl('x509', '-req', '-in', 'leaf.csr', ...by, '-days', `${days}`, '-out', 'leaf.pem')
    const chain = [new X509Certificate(readFileSync(at('leaf.pem'))).raw]
    return { key: createPrivateKey(readFileSync(at('leaf.key'))), chain }
  }
  return { root, file: at('ca.pem'), attest, remove: () => rmSync(folder, { recursive: true }) }
}
