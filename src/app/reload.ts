/** Applies a changed configuration to a running service: its log level and its certificates. All else needs a restart. */
import type { Logger } from 'pino'
import type { Config, SettingName } from '../config/config.js'
import { CERTIFIED_LISTENERS, type CertifiedListener, certificateFiles } from '../config/listener-settings.js'
import type { Listener } from '../http/listeners/listener.js'
import { assertUsable, examineTls, type TlsFiles } from '../http/listeners/tls-files.js'
import type { Clock } from '../lib/clock.js'
import { ALL_SETTINGS } from './configuration.js'

/** Settings that take effect without a restart. */
const RELOADED: ReadonlySet<SettingName> = new Set([
  'logLevel',
  'tlsCert',
  'tlsKey',
  ...CERTIFIED_LISTENERS.flatMap((name) => [`${name}TlsCert`, `${name}TlsKey`] as const),
])

/** Certificates by the listeners that present them: the APIs share one, and metrics have that of the dashboard. */
const CERTIFICATES = ['api', ...CERTIFIED_LISTENERS] as const

/** A certificate with the listeners that present it. */
interface Certificate {
  name: 'api' | CertifiedListener
  listeners: Listener[]
  /** Undefined where the listeners serve plain HTTP. */
  files: TlsFiles | undefined
  expiresAt: number | null
}

export class Certificates {
  private readonly shown: Certificate[] = []

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** @param files certificate and key with which the listeners were opened */
  add(name: Certificate['name'], listeners: Listener[], files: TlsFiles | undefined): void {
    const expiresAt = files ? this.expiryOf(files) : null
    this.shown.push({ name, listeners, files, expiresAt })
  }

  /** Expiry of each certificate in milliseconds since the Unix epoch, or null where there is none. */
  expiries(): Array<Pick<Certificate, 'name' | 'expiresAt'>> {
    return this.shown.map(({ name, expiresAt }) => ({ name, expiresAt }))
  }

  /**
   * Reads the certificates from where `config` says they are. A certificate that cannot be used is logged and the old one stays.
   * @returns whether all certificates could be used
   */
  async renew(config: Config): Promise<boolean> {
    let isWhole = true
    for (const certificate of this.shown) {
      const { name } = certificate
      const files = tlsFiles(config, name)
      // Switching between plain HTTP and TLS needs a restart.
      if (!files || !certificate.files) continue
      try {
        assertUsable(files, this.clock.now())
        for (const listener of certificate.listeners) await listener.renewCertificate(files)
        Object.assign(certificate, { files, expiresAt: this.expiryOf(files) })
        const expires = new Date(certificate.expiresAt!).toISOString()
        this.log.info({ listeners: name, certificate: files.certFile, expires }, 'certificate renewed')
      } catch (err) {
        isWhole = false
        this.log.error({ listeners: name, err }, 'the new certificate cannot be used: the old one stays')
      }
    }
    return isWhole
  }

  private expiryOf(files: TlsFiles): number | null {
    return examineTls(files, this.clock.now()).expiresAt
  }
}

/** Files of one certificate, with the authorities of callers where the APIs present it. */
export function tlsFiles(config: Config, name: Certificate['name']): TlsFiles | undefined {
  const files = certificateFiles(config, name)
  return files && name === 'api' ? { ...files, clientCaFile: config.clientCa } : files
}

/** Variables whose new value needs a restart. */
export function awaitingRestart(began: Config, next: Config): string[] {
  // Names of features' settings are among them.
  const names = Object.keys(ALL_SETTINGS) as SettingName[]
  const isSame = (name: SettingName) => JSON.stringify(began[name]) === JSON.stringify(next[name])
  const turnsTls = CERTIFICATES.some(
    (name) => (tlsFiles(began, name) === undefined) !== (tlsFiles(next, name) === undefined),
  )
  return names
    .filter((name) => !isSame(name) && (turnsTls || !RELOADED.has(name)))
    .map((name) => ALL_SETTINGS[name]!.variable)
}
