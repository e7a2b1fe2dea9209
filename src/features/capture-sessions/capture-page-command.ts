/** `countersign tenant capture-page`: shows and changes a tenant's settings for the hosted capture page; `consent-text` shows the texts to which people have agreed there. */
import type { Command } from 'commander'
import { consentTextView } from '../../admin/user-views.js'
import { type Asked, declare } from '../../cli/lib/command.js'
import type { CommandHost } from '../../cli/lib/feature-command.js'
import { UsageError } from '../../cli/lib/output.js'
import { readInput } from '../../cli/lib/read-input.js'
import { fields, listing } from '../../cli/lib/style.js'
import { type ThemeColor, themeColors } from '../../contract/accent-color.js'
import { wire } from '../../lib/wire.js'
import type { TenantRecord } from '../../storage/records.js'
import { type CapturePageChanges, changeCapturePage } from './capture-page-operations.js'
import { capturePageSettings } from './capture-page-settings.js'
import { capturePageReader } from './capture-tables.js'
import { consentTextsOf } from './consent-texts.js'

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
    async answer({ tenant, ...options }) {
      const changes = await changesOf(options)
      if (Object.keys(changes).length === 0)
        return onTenant(tenant, async (_core, found) => capturePageView(found))
      return onLiveTenant(tenant, async ({ operations, actor }, found) =>
        capturePageView(await changeCapturePage(operations.audited, found, actor, changes)),
      )
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
  const settings = capturePageSettings(tenant)
  const { consent, color, logo } = settings
  const themes = color === null ? null : themeColors(color)
  const shown = (theme: ThemeColor) => wire(theme, 'accent', 'onAccent')
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    ...wire(settings, 'company', 'returnOrigins', 'frameAncestors'),
    consent_version: consent?.version ?? null,
    consent_text: consent?.text ?? null,
    color,
    colors: themes && { light: shown(themes.light), dark: shown(themes.dark) },
    logo,
  }
}

async function changesOf(options: Asked<'', typeof OPTIONS>): Promise<CapturePageChanges> {
  const { company, returnOrigin, frameAncestor, consentVersion, consentText, color, logo } = options
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
    ...(logo === undefined ? {} : { logo: logo === NONE ? null : await readInput(logo) }),
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

/** Most texts that are listed. A single text of a longer list is found by its hash. */
const MAX_LISTED = 1000

export function registerTenantConsentText(texts: Command, { onTenant }: CommandHost): void {
  declare(texts, '<tenant> [sha256]', {
    async answer({ tenant, sha256 }) {
      if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
        throw new UsageError(
          'wrong_usage',
          `${JSON.stringify(sha256)} is not a hash: expected the 64 hex digits of consent_sha256.`,
        )
      return onTenant(tenant, async ({ store, vault }, { id }) => {
        const found =
          sha256 === undefined
            ? await store.read.statements(capturePageReader).texts(id, MAX_LISTED)
            : await consentTextsOf({ store, vault }, id, Buffer.from(sha256, 'hex'))
        return found.map(consentTextView)
      })
    },
    text: (views, { sha256 }) =>
      sha256 === undefined
        ? listing(
            ['SHA-256', 'VERSION', 'LANGUAGE', 'FIRST AGREED TO'],
            views.map((view) => [view.sha256, view.version, view.language, view.first_agreed_at]),
          )
        : views[0]!.text,
  })
}
