/** URL of the dashboard: the one that the running service reports, else the one of this configuration. */
import { adminUrl, type Config, SETTINGS } from '../../config/config.js'
import type { Store } from '../../storage/store.js'

/** Services with different URLs run on several machines: then this machine's configuration counts. */
export async function servedAdminUrl(store: Pick<Store, 'services'>, config: Config): Promise<string> {
  const { variable } = SETTINGS.adminUrl
  const told = (await store.services()).flatMap(({ settings }) => settings?.[variable] ?? [])
  const urls = [...new Set(told)]
  return urls.length === 1 ? urls[0]! : adminUrl(config)
}
