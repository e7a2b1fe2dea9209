/** A tenant's logo and color on its page. Both are files of the page's own origin, as its content policy demands. */

import { HEX_COLOR, themeColors } from '../../../contract/accent-color.js'
import type { Reply } from '../../../http/listeners/listener.js'
import type { TenantRecord } from '../../../storage/records.js'
import type { StoreReader } from '../../../storage/store.js'
import { companyOf } from '../../../tenants/company.js'
import { capturePageSettings } from '../capture-page-settings.js'
import { capturePageReader } from '../capture-tables.js'
import { ASSETS, type Brand } from './html.js'
import type { PageReplies } from './page-replies.js'

const LOGO = new RegExp(`^${ASSETS}/logo/([\\w-]{1,64})\\.([0-9a-f]{64})\\.png$`)
const THEME = new RegExp(`^${ASSETS}/theme/([0-9a-f]{6})\\.css$`)

export function brandOf(tenant: TenantRecord): Brand {
  const { color, logo } = capturePageSettings(tenant)
  return {
    company: companyOf(tenant),
    styles: color === null ? [] : [`${ASSETS}/theme/${color.slice(1)}.css`],
    logo: logo && {
      path: `${ASSETS}/logo/${tenant.id}.${logo.sha256}.png`,
      // The picture has two pixels for each pixel of the page, so that it is sharp on dense screens.
      width: Math.ceil(logo.width / 2),
      height: Math.ceil(logo.height / 2),
    },
  }
}

/** Returns the logo or style sheet of a brand at this path, or null when there is none. */
export async function brandFile(
  path: string,
  store: StoreReader,
  replies: PageReplies,
): Promise<Reply | null> {
  const [, color] = THEME.exec(path) ?? []
  if (color !== undefined && HEX_COLOR.test(`#${color}`))
    return replies.file('text/css; charset=utf-8', themeStyle(`#${color}`))
  const [, tenantId, sha256] = LOGO.exec(path) ?? []
  if (tenantId === undefined) return null
  const logo = await store.statements(capturePageReader).logo(tenantId)
  return logo?.sha256.toString('hex') === sha256 ? replies.file('image/png', logo!.image) : null
}

function themeStyle(color: string): string {
  const { light, dark } = themeColors(color)
  return `:root { --accent: light-dark(${light.accent}, ${dark.accent}); --on-accent: light-dark(${light.onAccent}, ${dark.onAccent}); --countersign-accent: var(--accent); --countersign-on-accent: var(--on-accent) }\n`
}
