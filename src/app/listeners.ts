/** The listeners of one service: opens each at its configured address and knows the addresses that they really have. */
import {
  adminUrl,
  type Config,
  captureOrigin,
  type Environment,
  environmentUrl,
  type ListenAddress,
  openidOrigin,
  SETTINGS,
  type SettingName,
} from '../config/config.js'
import { AddressError, type Listener, type ListenerOptions } from '../http/listeners/listener.js'
import { listenerBounds } from '../http/listeners/listener-bounds.js'
import { listen, type Transport } from '../http/listeners/transport.js'

export type ListenerName = Environment | 'admin' | 'metrics' | 'capture' | 'openid'

const ADDRESS_SETTING = {
  production: 'productionListen',
  sandbox: 'sandboxListen',
  admin: 'adminListen',
  metrics: 'metricsListen',
  capture: 'captureListen',
  openid: 'openidListen',
} as const satisfies Record<ListenerName, SettingName>

export class ServiceListeners {
  private readonly byName: Partial<Record<ListenerName, Listener>> = {}
  /** The configuration with the port that the system chose wherever port 0 was asked for. */
  private withPorts: Config

  /** @param sharesPorts other processes of this machine listen at the same addresses */
  constructor(
    private readonly config: Config,
    private readonly transport: Transport,
    private readonly sharesPorts: boolean,
  ) {
    this.withPorts = config
  }

  /**
   * Opens a listener with the configured bounds on bytes, time and connections.
   * @param options may set other time limits than the configured ones
   * @throws AddressError that names the setting of an address that cannot be had; ListenError
   */
  async open(
    name: ListenerName,
    address: ListenAddress,
    options: Pick<ListenerOptions, 'bodies' | 'tls' | 'clientCertificates' | 'handler'> &
      Partial<Pick<ListenerOptions, 'limits' | 'maxHeadBytes'>>,
  ): Promise<Listener> {
    const { config, transport, sharesPorts } = this
    try {
      const listener = await listen(
        { ...listenerBounds(config), ...options, address, sharesPort: sharesPorts },
        transport,
      )
      this.byName[name] = listener
      this.withPorts = { ...this.withPorts, [ADDRESS_SETTING[name]]: listener.address }
      return listener
    } catch (error) {
      throw error instanceof AddressError ? error.named(SETTINGS[ADDRESS_SETTING[name]].variable) : error
    }
  }

  /** Base URL of an environment with its real port, ending in /v1. */
  url(environment: Environment): string {
    return environmentUrl(this.withPorts, environment)
  }

  get adminUrl(): string {
    return adminUrl(this.withPorts)
  }

  /** Origin of the hosted capture page, or null where the page is not served. */
  get captureOrigin(): string | null {
    return captureOrigin(this.withPorts)
  }

  /** Origin of the OpenID provider, or null where there is none. */
  get openidOrigin(): string | null {
    return openidOrigin(this.withPorts)
  }

  /** Addresses of the admin listener and, where they are configured, of metrics and of the capture page. */
  get addresses(): Record<'metrics' | 'capture', ListenAddress | undefined> & { admin: ListenAddress } {
    const { adminListen, metricsListen, captureListen } = this.withPorts
    return { admin: adminListen, metrics: metricsListen, capture: captureListen }
  }

  /** Takes no more connections anywhere. Resolves when none is left. */
  async retire(): Promise<void> {
    await Promise.all(Object.values(this.byName).map((listener) => listener.retire()))
  }

  /** Stops accepting on these listeners and closes them after the replies under way, or after `patienceMs`. */
  async close(names: readonly ListenerName[], patienceMs: number): Promise<void> {
    await Promise.all(names.map((name) => this.byName[name]?.close(patienceMs)))
  }
}
