/** `countersign tenant capture-page`: shows and changes a tenant's settings for the hosted capture page. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../../audit/audited-unit-of-work.js'
import { type Asked, declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { UsageError } from '../../cli/lib/output.js'
import { readInput } from '../../cli/lib/read-input.js'
import { fields } from '../../cli/lib/style.js'
import { type ThemeColor, themeColors } from '../../contract/accent-color.js'
import type { TenantRecord } from '../../storage/records.js'
import { CapturePageOperations } from './capture-page-operations.js'
import { type CapturePageSettings, capturePageSettings } from './capture-page-settings.js'

/** Value that removes a setting. */
const NONE = 'none'

const OPTIONS = {
  '--company <name>': `company name on the page; ${NONE}: the name of the tenant`,
  '--return-origin <origins...>': `origins to which the page may lead back; replaces the earlier ones; ${NONE}`,
  '--frame-ancestor <origins...>': `origins whose pages may show the page in a frame; ${NONE}`,
  '--consent-version <version>': 'version of the text that people agree to; with --consent-text',
  '--consent-text <file>': `file with the text that people agree to; ${NONE}: the page’s own`,
  '--color <#rrggbb>': `color of buttons and lines, adjusted to be readable in both themes; ${NONE}: the page’s own`,
  '--logo <file>': `PNG or WebP of at most 512 KiB; ${NONE}: no logo`,
} as const

export function registerTenantCapturePage(page: Command, { onTenant, onLiveTenant }: CommandHost): void {
  declare(page, '<tenant>', {
    options: OPTIONS,
    async answer({ tenant, logo: file, ...options }) {
      const changes = await changesOf(options)
      const logo = file === undefined ? undefined : file === NONE ? null : await readInput(file)
      const isChange = Object.keys(changes).length > 0
      if (!isChange && logo === undefined)
        return onTenant(tenant, async (_core, found) => capturePageView(found))
      return onLiveTenant(tenant, async ({ operations }, found) => {
        const page = new CapturePageOperations(operations.audited)
        // Read the logo first: a logo that is refused must leave the other settings unchanged.
        const withLogo = logo === undefined ? found : await page.setLogo(found, COMMAND_LINE, logo)
        const settings = { ...capturePageSettings(withLogo), ...changes }
        return capturePageView(isChange ? await page.set(withLogo, COMMAND_LINE, settings) : withLogo)
      })
    },
    text: (view) =>
      fields([
        ['Company', view.company ?? `${view.name} (the tenant’s name)`],
        ['Leads back to', view.return_origins.join(', ') || 'nowhere: no session can be created'],
        ['May be framed by', view.frame_ancestors.join(', ') || 'nobody'],
        ['Consent', view.consent_version ?? 'the page’s own text'],
        ['Color', colorLine(view)],
        ['Logo', view.logo ? `${view.logo.width} × ${view.logo.height} pixels` : 'none'],
      ]),
  })
}

/** The settings of a tenant's capture page, with the colors that follow for each theme. */
function capturePageView(tenant: TenantRecord) {
  const { company, returnOrigins, frameAncestors, consent, color, logo } = capturePageSettings(tenant)
  const themes = color === null ? null : themeColors(color)
  const shown = ({ accent, onAccent }: ThemeColor) => ({ accent, on_accent: onAccent })
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    company,
    return_origins: returnOrigins,
    frame_ancestors: frameAncestors,
    consent_version: consent?.version ?? null,
    consent_text: consent?.text ?? null,
    color,
    colors: themes && { light: shown(themes.light), dark: shown(themes.dark) },
    logo,
  }
}

async function changesOf(
  options: Omit<Asked<'', typeof OPTIONS>, 'logo'>,
): Promise<Partial<CapturePageSettings>> {
  const { company, returnOrigin, frameAncestor, consentVersion, consentText, color } = options
  if ((consentVersion === undefined) !== (consentText === undefined || consentText === NONE))
    throw new UsageError('wrong_usage', 'Give --consent-version and --consent-text together.')
  return {
    ...(company === undefined ? {} : { company: company === NONE ? null : company }),
    ...(returnOrigin ? { returnOrigins: origins(returnOrigin) } : {}),
    ...(frameAncestor ? { frameAncestors: origins(frameAncestor) } : {}),
    ...(consentText === NONE ? { consent: null } : {}),
    ...(color === undefined ? {} : { color: color === NONE ? null : color.toLowerCase() }),
    ...(consentVersion === undefined
      ? {}
      : { consent: { version: consentVersion, text: (await readInput(consentText!)).toString().trim() } }),
  }
}

function colorLine({ color, colors }: ReturnType<typeof capturePageView>): string {
  if (!color || !colors) return 'the page’s own'
  const { light, dark } = colors
  return `${color}, shown as ${light.accent} (light) and ${dark.accent} (dark)`
}

function origins(given: string[]): string[] {
  return given.filter((origin) => origin !== NONE)
}
