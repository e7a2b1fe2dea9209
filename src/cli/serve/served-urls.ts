/** Where the dashboard is reached: where the service that runs now says that it listens, else where it would listen. */
import { adminUrl, type Config, SETTINGS } from '../../config/config.js'
import type { Store } from '../../storage/store.js'

/** Services that differ are of several machines: then this machine's configuration counts. */
export async function servedAdminUrl(store: Pick<Store, 'services'>, config: Config): Promise<string> {
  const { variable } = SETTINGS.adminUrl
  const told = (await store.services()).flatMap(({ settings }) => settings?.[variable] ?? [])
  const urls = [...new Set(told)]
  return urls.length === 1 ? urls[0]! : adminUrl(config)
}
