/** The listeners of one service: opens each at its configured address and knows the addresses that they really have. */
import {
  adminUrl,
  type Config,
  type Environment,
  environmentUrl,
  type ListenAddress,
} from '../config/config.js'
import {
  addressVariable,
  type ListenerName,
  originOf,
  type PublicListener,
} from '../config/listener-settings.js'
import { AddressError, type Listener, type ListenerOptions } from '../http/listeners/listener.js'
import { listenerBounds } from '../http/listeners/listener-bounds.js'
import { listen, type Transport } from '../http/listeners/transport.js'

export class ServiceListeners {
  private readonly byName: Partial<Record<ListenerName, Listener>> = {}
  /** The configuration with the port that the system chose wherever port 0 was asked for. */
  private withPorts: Config

  /**
   * @param sharesPorts other processes of this machine listen at the same addresses
   * @param ofFeatures listeners that the features of this service open where an address is configured for them
   */
  constructor(
    private readonly config: Config,
    private readonly transport: Transport,
    private readonly sharesPorts: boolean,
    readonly ofFeatures: readonly PublicListener[],
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
      this.withPorts = { ...this.withPorts, [`${name}Listen`]: listener.address }
      return listener
    } catch (error) {
      throw error instanceof AddressError ? error.named(addressVariable(name)) : error
    }
  }

  /** Base URL of an environment with its real port, ending in /v1. */
  url(environment: Environment): string {
    return environmentUrl(this.withPorts, environment)
  }

  /** Base URLs of both environments. */
  readonly urls = (): Record<Environment, string> => ({
    production: this.url('production'),
    sandbox: this.url('sandbox'),
  })

  get adminUrl(): string {
    return adminUrl(this.withPorts)
  }

  /** Origin under which browsers reach the listener of a feature; null where it is not served. */
  origin(name: PublicListener): string | null {
    return this.ofFeatures.includes(name) ? originOf(this.withPorts, name) : null
  }

  /** Addresses of the admin listener and of the other listeners that are open. */
  get addresses(): Partial<Record<ListenerName, ListenAddress>> & { admin: ListenAddress } {
    const { byName, withPorts } = this
    const open = Object.entries(byName).map(([name, { address }]) => [name, address])
    return { ...Object.fromEntries(open), admin: withPorts.adminListen }
  }

  /** Takes no more connections anywhere. Resolves when none is left. */
  async retire(): Promise<void> {
    await Promise.all(Object.values(this.byName).map((listener) => listener.retire()))
  }

  /** Stops accepting on these listeners and closes them after the replies under way, or after `patienceMs`. */
  async close(names: readonly ListenerName[], patienceMs: number): Promise<void> {
    await Promise.all(names.map((name) => this.byName[name]?.close(patienceMs)))
  }

  /** Closes all listeners but these in the same way. */
  closeAllBut(names: readonly ListenerName[], patienceMs: number): Promise<void> {
    const open = Object.keys(this.byName) as ListenerName[]
    return this.close(
      open.filter((name) => !names.includes(name)),
      patienceMs,
    )
  }
}
