/** `countersign tenant consent-text`: shows the texts to which people have agreed on the hosted capture page. */
import type { Command } from 'commander'
import { consentTextsOf } from '../../admin/consent-texts.js'
import { consentTextView } from '../../admin/user-views.js'
import { action, type OutputOptions, print, UsageError } from '../lib/output.js'
import { listing } from '../lib/style.js'
import { withCore } from '../with-core.js'

/** Most texts that are listed. A single text of a longer list is found by its hash. */
const MAX_LISTED = 1000

export function registerTenantConsentText(tenant: Command): void {
  tenant
    .command('consent-text <tenant> [sha256]')
    .description('show the text whose hash an audit entry names, or list all that people have agreed to')
    .option('--json', 'print JSON')
    .action(
      action(async (name: string, sha256: string | undefined, options: OutputOptions) => {
        if (sha256 !== undefined && !/^[0-9a-f]{64}$/i.test(sha256))
          throw new UsageError(
            'wrong_usage',
            `${JSON.stringify(sha256)} is not a hash: expected the 64 hex digits of consent_sha256.`,
          )
        const texts = await withCore(async ({ tenancy, store, vault }) => {
          const { id } = await tenancy.find(name)
          return sha256 === undefined
            ? store.read.consentTexts(id, MAX_LISTED)
            : consentTextsOf({ store, vault }, id, Buffer.from(sha256, 'hex'))
        })
        print(options, texts.map(consentTextView), () =>
          sha256 === undefined
            ? listing(
                ['SHA-256', 'VERSION', 'LANGUAGE', 'FIRST AGREED TO'],
                texts.map((text) => {
                  const view = consentTextView(text)
                  return [view.sha256, view.version, view.language, view.first_agreed_at]
                }),
              )
            : texts[0]!.text,
        )
      }),
    )
}
