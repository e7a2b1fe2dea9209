/** The settings of a listener begin with its name: `captureListen`, `captureUrl`, `captureTlsCert` and `captureTlsKey`. */
import type { ListenAddress } from './parsers.js'
import { type Config, SETTINGS, type SettingName } from './settings.js'

type NameBefore<Ending extends string> = SettingName extends infer Name
  ? Name extends `${infer Listener}${Ending}`
    ? Listener
    : never
  : never

export type ListenerName = NameBefore<'Listen'>
/** A listener with a certificate of its own. The APIs share one whose settings begin with no name. */
export type CertifiedListener = NameBefore<'TlsCert'>
/** A listener that serves browsers of everybody under an address of its own. */
export type PublicListener = Exclude<CertifiedListener & ListenerName, 'admin'>

const namesBefore = <Name extends string>(ending: string) =>
  Object.keys(SETTINGS).flatMap((setting) =>
    setting.endsWith(ending) ? [setting.slice(0, -ending.length) as Name] : [],
  )

export const LISTENERS = namesBefore<ListenerName>('Listen')
export const CERTIFIED_LISTENERS = namesBefore<CertifiedListener>('TlsCert')

/** Name of the environment variable that sets the address of a listener. */
export function addressVariable(listener: ListenerName): string {
  return SETTINGS[`${listener}Listen`].variable
}

/** Name of the environment variable that sets the address under which browsers reach a listener. */
export function urlVariable(listener: PublicListener): string {
  return SETTINGS[`${listener}Url`].variable
}

/** Configured files of the listener's certificate and its key; undefined where it serves plain HTTP. */
export function certificateFiles(
  config: Config,
  listener: CertifiedListener | 'api',
): { certFile: string; keyFile: string } | undefined {
  const [certFile, keyFile] =
    listener === 'api'
      ? [config.tlsCert, config.tlsKey]
      : [config[`${listener}TlsCert`], config[`${listener}TlsKey`]]
  return certFile && keyFile ? { certFile, keyFile } : undefined
}

/** Origin under which browsers reach the listener, or null where no address is configured for it. */
export function originOf(config: Config, listener: PublicListener): string | null {
  const address: ListenAddress | undefined = config[`${listener}Listen`]
  if (!address) return null
  const scheme = config[`${listener}TlsCert`] ? 'https' : 'http'
  return config[`${listener}Url`] ?? new URL(`${scheme}://${urlHost(address.host)}:${address.port}`).origin
}

/** The host of a URL that leads to a listener at this address. */
export function urlHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
