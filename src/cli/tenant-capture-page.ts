/** `countersign tenant capture-page`: what the hosted capture page is for a tenant. */
import type { Command } from 'commander'
import { COMMAND_LINE } from '../operations/operation.js'
import type { TenantRecord } from '../storage/records.js'
import { type CapturePageSettings, capturePageSettings } from '../tenancy/capture-page-settings.js'
import { withLedger } from './ledger.js'
import { action, type OutputOptions, print, UsageError } from './output.js'
import { readInput } from './read-input.js'
import { fields } from './style.js'
import { operate } from './tenant-options.js'

interface CapturePageOptions extends OutputOptions {
  company?: string
  returnOrigin?: string[]
  frameAncestor?: string[]
  consentVersion?: string
  consentText?: string
}

/** In the place of a value: nothing is set, as at the beginning. */
const NONE = 'none'

export function registerTenantCapturePage(tenant: Command): void {
  tenant
    .command('capture-page <tenant>')
    .description('show or change what the hosted capture page is for a tenant; what is not named stays')
    .option('--company <name>', `the name that people read; ${NONE}: that of the tenant`)
    .option(
      '--return-origin <origins...>',
      `to which the page may lead back, in the place of those before; ${NONE}`,
    )
    .option('--frame-ancestor <origins...>', `whose pages may show it in a frame; ${NONE}`)
    .option('--consent-version <version>', 'of the text that people agree to; with --consent-text')
    .option('--consent-text <file>', `file with that text; ${NONE}: the page’s own`)
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, options: CapturePageOptions) => {
        const changes = await changesOf(options)
        const view =
          Object.keys(changes).length === 0
            ? await withLedger(async ({ tenancy }) => capturePageView(await tenancy.find(name)))
            : await operate(name, async ({ tenants }, found) =>
                capturePageView(
                  await tenants.setCapturePage(found, COMMAND_LINE, {
                    ...capturePageSettings(found),
                    ...changes,
                  }),
                ),
              )
        print(options, view, () =>
          fields([
            ['Company', view.company ?? `${view.name} (the tenant’s name)`],
            ['Leads back to', view.return_origins.join(', ') || 'nowhere: no session can be made'],
            ['In a frame of', view.frame_ancestors.join(', ') || 'nobody'],
            ['Consent', view.consent_version ?? 'the page’s own text'],
          ]),
        )
      }),
    )
}

async function changesOf(options: CapturePageOptions): Promise<Partial<CapturePageSettings>> {
  const { company, returnOrigin, frameAncestor, consentVersion, consentText } = options
  if ((consentVersion === undefined) !== (consentText === undefined || consentText === NONE))
    throw new UsageError('wrong_usage', 'Give --consent-version and --consent-text together.')
  return {
    ...(company === undefined ? {} : { company: company === NONE ? null : company }),
    ...(returnOrigin ? { returnOrigins: origins(returnOrigin) } : {}),
    ...(frameAncestor ? { frameAncestors: origins(frameAncestor) } : {}),
    ...(consentText === NONE ? { consent: null } : {}),
    ...(consentVersion === undefined
      ? {}
      : { consent: { version: consentVersion, text: (await readInput(consentText!)).toString().trim() } }),
  }
}

function origins(given: string[]): string[] {
  return given.filter((origin) => origin !== NONE)
}

function capturePageView(tenant: TenantRecord) {
  const { company, returnOrigins, frameAncestors, consent } = capturePageSettings(tenant)
  return {
    tenant_id: tenant.id,
    name: tenant.name,
    company,
    return_origins: returnOrigins,
    frame_ancestors: frameAncestors,
    consent_version: consent?.version ?? null,
    consent_text: consent?.text ?? null,
  }
}
